"""``wdro study temperature``: graphs of weather stations, and what the paper reads from its maps.

stations.py has the data, reading.py learns and measures one graph, drawing.py draws, study.py
reports.
"""
