"""What every server here can be told: where it listens, and what no stranger can exceed on a connection."""

import msgspec

from fairgauge.errors import InvalidInput


class ConnectionLimits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sizes, times and numbers that no stranger can exceed."""

    header_bytes: int = 8192
    read_seconds: float = 10.0  # from a request's first byte to its last; and for reading a part of a response
    idle_seconds: float = 30.0  # between two requests
    connections: int = 4096  # beyond, the connection that waited longest is closed
    pipelined: int = 2  # requests on one connection that wait for their answers; beyond, it is closed
    held_bytes: int = 2**25  # of requests under way and responses that are not read; beyond, the largest are cut off


class ServerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where a server listens."""

    host: str = "127.0.0.1"
    port: int = 0
    tls_cert: str | None = None  # a PEM file; with tls_key the server speaks TLS itself
    tls_key: str | None = None
    reuse_port: bool = False
    shutdown_seconds: int = 20
    limits: ConnectionLimits = msgspec.field(default_factory=ConnectionLimits)

    def __post_init__(self) -> None:
        check_range("port", self.port, least=0, most=65_535)
        if (self.tls_cert is None) != (self.tls_key is None):
            raise InvalidInput("tls_cert", self.tls_cert, "must be given together with tls_key")

    @property
    def scheme(self) -> str:
        """What addresses of this server begin with."""
        return "http" if self.tls_cert is None else "https"


def check_range(field: str, value: float, *, least: float, most: float) -> None:
    """Refuse a setting outside its range.

    Raises:
        InvalidInput: With the range.
    """
    if not least <= value <= most:
        raise InvalidInput(field, value, f"must be from {least} to {most}")
