"""``wdro robustness``: whether ``solve`` keeps its word at the corners of its domain."""
