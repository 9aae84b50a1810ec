"""``wdro learn``: learn a graph from the user's own table.

reading.py yields rows of text, numbers.py converts them, loading.py makes the table and places.py
reads coordinates. graph.py learns the graph and path.py solves for other radii. picture.py and
page.py show the result. run.py runs all of this and writes the files.
"""
