"""One Envoy for all tests of a process, and small tools around it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.envoy.rig import Rig


@pytest.fixture
async def rig() -> AsyncIterator[Rig]:
    """An Envoy, its ADS server and stubs, with no routes yet."""
    async with Rig() as running:
        yield running
