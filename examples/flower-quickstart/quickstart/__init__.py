"""quickstart: a Flower app."""
