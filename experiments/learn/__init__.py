"""``wdro learn``: learn a graph from the user's own table.

reading.py yields rows of text, numbers.py converts them, times.py recognises dates, loading.py
makes the table and places.py reads coordinates. graph.py learns the graph, picture.py draws it and
summary.py describes it. run.py runs all of this and writes the files. outputs.py chooses the
folders before any library is loaded.
"""
