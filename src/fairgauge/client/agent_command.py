"""``fairgauge agent``, on the standard library alone: it holds a person's data, and loads nothing else."""

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairgauge.errors import CannotAnswer, FairgaugeError, InvalidInput

if TYPE_CHECKING:
    from fairgauge.client.agent_settings import AgentSettings
    from fairgauge.client.site_settings import SiteSettings

_SUMMARY = "Hold a person's profile and ledger, and answer studies for whoever asks on a Unix socket."
_HELP = {
    "settings": "The agent's own file. With several, one process serves several people, each on a socket of its own. "
    "With --check and --prepare, a site's own file as well.",
    "check": "Read settings and profiles, say what may be asked and what does not fit, and end.",
    "prepare": "Read a site's records, and write what studies are answered from: once, and again when they changed.",
}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(prog="fairgauge agent", description=_SUMMARY, allow_abbrev=False)
    parser.add_argument("settings", metavar="SETTINGS", nargs="+", help=_HELP["settings"])
    for name in ("check", "prepare"):
        parser.add_argument(f"--{name}", action="store_true", help=_HELP[name])
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 fine, 1 the answer is no, 2 bad input."""
    try:
        options = make_parser().parse_args(arguments)
        if options.prepare:
            prepare(options.settings)
        if options.check:
            _check(options.settings)
        elif not options.prepare:
            _serve(options.settings)
    except FairgaugeError as error:
        sys.stderr.write(f"fairgauge: {error}\n")
        return 2 if isinstance(error, InvalidInput) else 1
    return 0


def _check(paths: list[str]) -> None:
    odd = []
    for path in paths:
        allowed, found = _look_at(path)
        odd += found
        sys.stdout.write("".join(f"{line}\n" for line in allowed))
    if odd:
        raise CannotAnswer("; ".join(odd))


def prepare(paths: Sequence[str]) -> None:
    """Read the records of sites, and write what studies are answered from; say what of them does not fit.

    Raises:
        FairgaugeError: If a file names no site, something cannot be used, or entries do not fit.
    """
    odd: list[str] = []
    for path in paths:
        own = _site_of(path)
        if own is None:
            raise InvalidInput("settings", path, "must be a site's own file, or name one as its site")
        found = own.prepare()
        sys.stdout.write(f"{own.prepared}: {found.rows:,} records\n")
        odd += found.odd
    if odd:
        raise CannotAnswer(f"prepared all the same, but {'; '.join(odd)}")


def _site_of(path: str) -> "SiteSettings | None":
    """Return the settings of a site, from its own file or from that of its agent; None for a person's agent."""
    from fairgauge.canonical_json import decode, read_file
    from fairgauge.client.site_settings import SiteSettings

    if "records" in decode(read_file(path, field="settings"), error=InvalidInput):
        return SiteSettings.load(path)
    from fairgauge.client.agent_settings import AgentSettings

    agent = AgentSettings.load(path)
    return None if agent.site is None else SiteSettings.load(agent.site)


def _look_at(path: str) -> tuple[list[str], list[str]]:
    """Read a file of settings, an agent's or a site's, and what it answers from, before any study is known.

    Returns:
        What may be asked, a line for each kind of study; and what of profile and records does not fit that, for the
        owner's eyes alone.

    Raises:
        FairgaugeError: If something cannot be used.
    """
    from fairgauge.canonical_json import decode, read_file
    from fairgauge.client.site_settings import SiteSettings

    if "records" in decode(read_file(path, field="settings"), error=InvalidInput):
        site = SiteSettings.load(path)
        return [_of_site(path, site)], _unprepared(site)
    from fairgauge.client.agent_settings import AgentSettings

    return _look_at_agent(AgentSettings.load(path))


def _look_at_agent(settings: "AgentSettings") -> tuple[list[str], list[str]]:
    """The same for an agent's settings that are read already."""
    from fairgauge.client.agent import AgentSite

    allowed, odd = [], []
    settings.check_ledger()
    if settings.has_profile:
        odd += settings.check_profile()
        given = f"; values of {', '.join(sorted(settings.askers_give))} from who asks" if settings.askers_give else ""
        allowed.append(
            f"{settings.socket}: {settings.policy.words()}, at most epsilon {settings.limits.study} a study "
            f"and {settings.limits.lifetime} an attribute{given}"
        )
    if settings.site is not None:
        own = AgentSite(settings.site, settings.mode).settings()
        odd += _unprepared(own)
        allowed.append(_of_site(settings.socket, own))
    return allowed, odd


def _unprepared(own: "SiteSettings") -> list[str]:
    """Say so if a site's records were not prepared, or for other settings; the table itself is left alone."""
    try:
        own.load_records()
    except InvalidInput as problem:
        return [str(problem)]
    return []


def _of_site(name: object, own: "SiteSettings") -> str:
    return (
        f"{name}: {own.policy.words()}, for sites, from {own.records}, at most epsilon {own.limits.study} a study and "
        f"{own.limits.lifetime} an attribute for each person"
    )


def _serve(paths: list[str]) -> None:
    import socket

    from fairgauge.client.agent import Agent
    from fairgauge.client.agent_settings import AgentSettings
    from fairgauge.client.agent_socket import AgentService

    if not hasattr(socket, "AF_UNIX"):
        raise InvalidInput("system", sys.platform, "must have Unix sockets")
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    agents = [Agent(AgentSettings.load(path)) for path in paths]
    for agent in agents:
        # Files that are not safe are better seen now than by the first who asks.  A profile that does not fit, is none
        # or is gone is told here and no more: an agent that did not start again would tell somebody of it.
        for line in (line for lines in _look_at_agent(agent.settings) for line in lines):
            sys.stderr.write(f"{line}\n")
    service = AgentService(agents)

    def stop(*_: object) -> None:
        service.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    service.run()
