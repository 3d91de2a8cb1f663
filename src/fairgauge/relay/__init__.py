"""A relay of Oblivious HTTP (RFC 9458): it carries envelopes, opens none and keeps nothing."""
