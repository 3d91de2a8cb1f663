"""The issuer of blind tickets: a program of its own, apart from the collector that they are spent at."""
