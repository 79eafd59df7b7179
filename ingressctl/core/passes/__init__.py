"""Passes over routes: plain functions of one signature, in one order.

A pass takes the routes of one owner and gives them back with what it had to change, told
as findings. `ownership` needs the world; `visibility` and `weights` only the routes.
"""

from __future__ import annotations

from collections.abc import Callable

from ingressctl.core.model import Route
from ingressctl.core.outcome import Finding
from ingressctl.core.passes import ownership, visibility, weights
from ingressctl.core.world import Reads

Routes = tuple[Route, ...]
Pass = Callable[[Routes, Reads], tuple[Routes, tuple[Finding, ...]]]

ORDER: tuple[Pass, ...] = (ownership.apply, visibility.apply, weights.apply)


def apply(routes: Routes, reads: Reads) -> tuple[Routes, tuple[Finding, ...]]:
    """The routes after every pass, and what the passes found."""
    found: tuple[Finding, ...] = ()
    for one in ORDER:
        routes, more = one(routes, reads)
        found += more
    return routes, found


__all__ = ["ORDER", "apply", "ownership"]
