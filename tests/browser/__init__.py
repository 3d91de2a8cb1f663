"""Pages in a real Chromium, as a person uses them."""
