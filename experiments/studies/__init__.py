"""Finished studies, each of one question; ``wdro study NAME`` runs one."""
