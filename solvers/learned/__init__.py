"""A learned graph as people use it: edges as a table, layout and pictures."""
