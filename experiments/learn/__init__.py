"""``wdro learn``: a graph from the user's own table.

loading.py reads tables, strictly; graph.py learns; picture.py draws; output.py writes.
"""
