"""Where nobody serves proxies, nothing is done for them."""

from __future__ import annotations

import asyncio

import pytest

from ingressctl.cluster.carrying import Carrying


async def test_without_a_carrier_a_mended_configuration_has_nobody_looked_at_again() -> None:
    """Whom it concerns is woken by what he read; a second look at all others is for nothing."""
    looked: list[str] = []
    carrying = Carrying(None, usable=iter([False, True, True]).__next__, hosts=lambda _: ())
    carrying.expect(())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.3):
            await carrying.mended(lambda: looked.append("all"), lambda: True)
    assert looked == []
