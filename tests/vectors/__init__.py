"""Test vectors that the clients share: made by the Python client, checked by the JavaScript client in a browser."""
