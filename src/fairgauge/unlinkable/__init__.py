"""What makes an answer nobody's: blind tickets, and envelopes that only a gateway opens.

Who signs a blind ticket (RFC 9474, 9578) cannot recognise it when it is spent; who carries an envelope (RFC 9458, 9292,
9180) learns nothing of what is in it.  Blind tickets need the standard library alone; envelopes need the ``[relay]``
extra: the standard library has neither X25519 nor AES.
"""
