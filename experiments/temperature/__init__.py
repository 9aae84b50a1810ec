"""``wdro temperature``: graphs of weather stations, and what the paper reads from its maps.

stations.py holds the data, directions.py the statistics of edges, reading.py both together;
run.py learns, drawing.py draws, report.py tells.
"""
