"""``fairgauge agent``, on the standard library alone: it holds a person's data, and loads nothing else."""

import argparse
import logging
import signal
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairgauge.errors import FairgaugeError, InvalidInput

if TYPE_CHECKING:
    from fairgauge.client.agent_settings import AgentSettings
    from fairgauge.client.site_settings import SiteSettings

SUMMARY = "Hold a person's profile and ledger, and answer studies for whoever asks on a Unix socket."
HELP = {
    "settings": "The agent's own file. With several, one process serves several people, each on a socket of its own.",
    "check": "Read the settings and the profiles, say what they allow, and end.",
}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command's arguments."""
    parser = argparse.ArgumentParser(prog="fairgauge agent", description=SUMMARY, allow_abbrev=False)
    parser.add_argument("settings", metavar="SETTINGS", nargs="+", help=HELP["settings"])
    parser.add_argument("--check", action="store_true", help=HELP["check"])
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status: 0 fine, 1 the answer is no, 2 bad input."""
    try:
        options = make_parser().parse_args(arguments)
        _check(options.settings) if options.check else _serve(options.settings)
    except FairgaugeError as error:
        sys.stderr.write(f"fairgauge: {error}\n")
        return 2 if isinstance(error, InvalidInput) else 1
    return 0


def _check(paths: list[str]) -> None:
    from fairgauge.client.agent_settings import AgentSettings

    for path in paths:
        settings = AgentSettings.load(path)
        own = read_files(settings)
        settings.check_ledger()
        studies = "any study" if settings.studies is None else f"{len(settings.studies)} studies on its list"
        given = (
            f"; values of {', '.join(sorted(settings.askers_give))} from whoever asks" if settings.askers_give else ""
        )
        if settings.has_profile:
            sys.stdout.write(
                f"{settings.socket}: {studies}, at most epsilon {settings.limits.study} a study "
                f"and {settings.limits.lifetime} an attribute{given}\n"
            )
        if own is not None:
            sys.stdout.write(
                f"{settings.socket}: {studies} for sites, from {own.records}, at most epsilon {own.limits.study} a "
                f"study and {own.limits.lifetime} an attribute for each person\n"
            )


def read_files(settings: "AgentSettings") -> "SiteSettings | None":
    """Read what an agent answers from, so that a mistake is seen; return a site's own settings if there are any."""
    from fairgauge.client.agent_site import AgentSite

    if settings.has_profile:
        settings.check_profile()
    return None if settings.site is None else AgentSite(settings.site, settings.mode).settings()


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
        read_files(agent.settings)  # a mistake in them is better seen now than by the first who asks
    service = AgentService(agents)

    def stop(*_: object) -> None:
        service.stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    service.run()
