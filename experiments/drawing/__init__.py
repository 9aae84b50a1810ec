"""Draw figures: style.py has the palette, scaling.py run times, graphs.py graphs and maps."""
