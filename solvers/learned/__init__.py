"""Learned graphs for users: the edges as a table, layouts and pictures."""
