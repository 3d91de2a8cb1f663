"""Speed as ratios against peers, in one run."""
