"""One way of running things: measurements in processes of their own, trials in parallel.

server.py holds the libraries ready and forks; isolated.py watches one process and its limits;
parallel.py and cluster.py run many small trials; campaign.py runs measurements one by one; store.py
keeps what was measured, folder.py who may write; outcome.py, measurement.py and provenance.py say
what a result is; display.py shows what goes on.
"""
