"""Run and record measurements in processes of their own, and trials in parallel.

server.py loads the libraries once and forks; isolated.py runs one task within limits; parallel.py
and cluster.py run many trials; campaign.py runs measurements one by one; store.py keeps results and
files.py writes them; digest.py and provenance.py record the code behind a result; display.py shows
progress; options.py and text.py are shared by commands and reports.
"""
