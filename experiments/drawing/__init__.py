"""How things look: style.py the palette and saving, scaling.py run times, graphs.py graphs."""
