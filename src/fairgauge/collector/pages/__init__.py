"""Pages for people: what a collector shows in a browser."""
