"""``wdro bench``: compare our solver with the strongest opponents at equal judged accuracy."""
