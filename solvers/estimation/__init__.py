"""What the estimator is made of: signals, choice of radius, edges with certainty, pictures."""
