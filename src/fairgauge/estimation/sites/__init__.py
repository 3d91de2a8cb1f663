"""What sites' counts tell: rates, their gaps, and intervals that reckon with noise and with who came to the sites."""
