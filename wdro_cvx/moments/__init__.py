"""What the data say: the nominal moment, points of a set with their evidence, missing values."""
