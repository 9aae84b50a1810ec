"""``wdro verify``: check proof files in exact arithmetic."""
