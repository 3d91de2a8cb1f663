"""What can be asked of a collector, one module for each kind of request."""
