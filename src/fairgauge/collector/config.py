"""How a collector is set: a TOML file with defaults for everything, where unknown names are refused."""

import tomllib
from pathlib import Path

import msgspec

from fairgauge.errors import InvalidInput
from fairgauge.server.server_config import ConnectionLimits, ServerConfig, check_range


class CollectorLimits(ConnectionLimits, frozen=True, forbid_unknown_fields=True):
    """Sizes and numbers of the collector's own, beside those of every server."""

    answer_bytes: int = 4096
    batch_bytes: int = 2**21
    batch_lines: int = 10_000
    study_bytes: int = 2**23
    faulty_lines: int = 100  # of a batch; beyond, nothing of it is counted
    exports: int = 4  # at once, for strangers, for readers and for operators each; beyond, come again
    listeners: int = 200  # browsers that watch a study live, of each of the three; beyond, come again
    waiting: int = 100_000  # single answers that wait for a commit, and as many of batches; beyond, come again


class Rates(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Per second and process; each may come in a burst of ten seconds' worth."""

    answers: float = 50_000.0  # all answers, good or bad; of each, batches have half as much for themselves
    open: float = 20_000.0  # answers to studies that everyone may answer
    tickets: float = 50_000.0  # answers to studies that take tickets
    envelopes: float = 5_000.0  # envelopes that are opened; what is in them is counted again
    readers: float = 50.0  # requests for results
    visitors: float = 50.0  # requests for results and pages that everyone may see; beyond, they wait in line
    operators: float = 20.0  # requests that change something
    refused: float = 20.0  # tokens that do not exist
    free: float = 500.0  # health, keys, scripts and forms, which everyone may have; beyond, a second later
    faulty: float = 200.0  # requests that break a rule; beyond, they are told so a second later


class Config(ServerConfig, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set."""

    store: str = "sqlite:///gauge.db"
    port: int = 8642
    reuse_port: bool = False  # let several collectors of one PostgreSQL listen on one port
    secrets: str = "fairgauge-secrets"  # the folder with tokens, keys and the record of seals
    new_store: bool = False  # whether to make a store although the secrets belong to another one
    bucket_seconds: int = 3600
    commit_milliseconds: float = 2.0  # how long an answer waits for others to be committed with
    limits: CollectorLimits = msgspec.field(default_factory=CollectorLimits)
    rates: Rates = msgspec.field(default_factory=Rates)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.reuse_port and (self.port == 0 or self.store.startswith("sqlite:")):
            raise InvalidInput(
                "reuse_port", self.reuse_port, "needs a port of your choice, and PostgreSQL: SQLite has one collector"
            )
        check_range("bucket_seconds", self.bucket_seconds, least=1, most=86_400 * 31)
        check_range("commit_milliseconds", self.commit_milliseconds, least=0, most=1000)
        for group in ("limits", "rates"):
            for field, value in msgspec.structs.asdict(getattr(self, group)).items():
                if not value > 0:
                    raise InvalidInput(f"{group}.{field}", value, "must be above 0")


def read_config(path: Path | None, **given: object) -> Config:
    """Read the settings from a file, if there is one, and let those given here win.

    Raises:
        InvalidInput: If a name is unknown or a value is not what it should be.
    """
    settings: dict[str, object] = {}
    if path is not None:
        try:
            settings = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidInput("config", path, f"cannot be read: {error.strerror}") from None
        except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InvalidInput("config", path, f"must be TOML ({error})") from None
    settings.update({name: value for name, value in given.items() if value is not None})
    try:
        return msgspec.convert(settings, Config)
    except InvalidInput:
        raise
    except msgspec.ValidationError as error:
        raise InvalidInput("config", path or "settings", f"is refused: {error}") from None
