"""The topics about scale, for bench/run.py."""

from bench.clients import clients_needed
from bench.collectors import several_collectors
from bench.counting import tallies
from bench.growth import growth, wire
from bench.lines import Topic
from bench.peers import peers

SCALE: dict[str, Topic] = {
    "clients": clients_needed,
    "peers": peers,
    "tallies": tallies,
    "collectors": several_collectors,
    "growth": growth,
    "wire": wire,
}
