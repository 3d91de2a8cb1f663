"""Places for each kind of visitor, and room for bodies.

Covers: fairgauge.collector.load_limits.
"""

import pytest

from fairgauge.collector.load_limits import Room, Slots
from fairgauge.server.server_errors import Busy


def test_no_kind_takes_the_places_of_another():
    slots = Slots("exports", 2)
    with slots.taken("stranger"), slots.taken("stranger"):
        with pytest.raises(Busy, match="Too many exports at once"), slots.taken("stranger"):
            pytest.fail("a third stranger got in")
        with slots.taken("operator"), slots.taken("reader"):
            assert slots.used == 4
    assert slots.used == 0
    with slots.taken("stranger"):
        assert slots.used == 1


def test_a_place_is_free_again_after_a_fault():
    slots = Slots("exports", 1)
    for _ in range(3):
        with pytest.raises(KeyError), slots.taken("stranger"):
            raise KeyError
    assert slots.used == 0


def test_room_is_for_all_together_and_given_back():
    room = Room(100)
    with room.guest() as one, room.guest() as other:
        one.hold(60)
        with pytest.raises(Busy):
            other.hold(41)
        other.hold(40)
        assert room.held == 100
    assert room.held == 0
    with room.guest() as guest:
        guest.hold(50)
        with pytest.raises(Busy):
            guest.hold(51)
    assert room.held == 0
