"""``wdro study temperature``: learn graphs of weather stations and test the paper's observations.

stations.py has the data, reading.py learns and measures one graph, study.py reports and draws.
"""
