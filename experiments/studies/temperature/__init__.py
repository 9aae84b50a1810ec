"""``wdro temperature``: graphs of weather stations, and what the paper reads from its maps.

states.py and stations.py hold the data, directions.py the statistics of edges, bands.py those of
communities, reading.py all together; run.py learns, drawing.py and story.py draw,
report.py tells.
"""
