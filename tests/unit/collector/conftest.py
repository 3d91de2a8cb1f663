"""A collector in this process, on a store of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from tests.collecting.desk import Desk, open_desk


@pytest.fixture
def ask(tmp_path: Path) -> Callable[..., None]:
    """Run a coroutine function with a fresh collector."""

    def run(scene: Callable[[Desk], Awaitable[None]], **settings: object) -> None:
        async def play() -> None:
            async with open_desk(f"sqlite:///{tmp_path / 'gauge.db'}", tmp_path, **settings) as desk:
                await scene(desk)

        asyncio.run(play())

    return run
