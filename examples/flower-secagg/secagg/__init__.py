"""secagg: a Flower app."""
