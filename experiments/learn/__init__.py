"""``wdro learn``: a graph from the user's own table.

reading.py yields rows of text, numbers.py converts them, loading.py makes the table, places.py
reads coordinates; graph.py learns; path.py solves for other radii; picture.py and page.py show;
run.py does all of it and writes.
"""
