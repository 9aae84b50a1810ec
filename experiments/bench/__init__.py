"""``wdro bench``: our solver against the strongest opponents, at equal judged accuracy."""
