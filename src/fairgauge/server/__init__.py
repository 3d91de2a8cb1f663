"""What collector, issuer and relay have in common as servers: connections, bodies, refusals, tokens and secrets.

They are run by parties that must not be one, so that none of them imports another; each imports this.
"""
