"""What tests and benchmarks of the collector share: servers, a wire to them, a database, and kills."""
