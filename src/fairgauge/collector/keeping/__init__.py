"""What keeps an operator's data safe: checking a store, copying it while it is used, and putting a copy back."""
