"""Small extensions of Sphinx that only this site needs."""
