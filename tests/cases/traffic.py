"""Requests of a case through the emitted configuration (cases/field/README.md, traffic).

Every key of the tables is known here; one that needs a running proxy, a stub or a client
with cookies is a failure with that reason, never a skip.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ingressctl.core.settings import Settings
from ingressctl.core.world import World


def judge(
    block: Iterable[Mapping[str, Any]],
    world: World,
    settings: Settings,
    *,
    providers: tuple[str, ...] = (),
) -> list[str]:
    """What does not hold of a `traffic` list; `world` is the state after our changes.

    `providers` limits the outputs that are asked (names of ours, such as gateway_api).
    """
    raise NotImplementedError
