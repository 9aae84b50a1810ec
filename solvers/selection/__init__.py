"""Choose the radius and the strength of the prior, and measure the stability of edges."""
