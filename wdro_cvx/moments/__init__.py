"""The nominal distribution, second moments with evidence of membership, and missing values."""
