"""A learned graph as people use it: its edges as a table, its pictures, its labels."""
