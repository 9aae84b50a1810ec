"""Draw figures: style.py has the palette, scaling.py draws run times and graphs.py draws graphs."""
