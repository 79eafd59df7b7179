"""What the API server would make of written objects: filled in, or refused.

The same admission as the webhook's runs over the objects of files. A refused one is not
written: the base keeps its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import admitting
from ingressctl.plan.overlay import Laid, Written


def apply(laid: Laid, settings: Settings) -> tuple[Laid, tuple[Finding, ...]]:
    """The written objects as they would be stored, and why some would not."""
    refused: list[Finding] = []
    stored = tuple(_stored(laid.written, laid.world, settings, refused))
    world = laid.base.overlay(item.obj for item in stored) if stored else laid.base
    return replace(laid, world=world, written=stored), tuple(refused)


def again(items: Iterable[Written], world: World, settings: Settings) -> World:
    """A world in which some written objects are admitted anew, under other settings."""
    return world.overlay(item.obj for item in _stored(items, world, settings, []))


def _stored(
    items: Iterable[Written], world: World, settings: Settings, refused: list[Finding]
) -> Iterator[Written]:
    for item in items:
        judged = admitting.judge(item.obj, old=item.before, world=world, settings=settings)
        if judged.refusals:
            refused.extend(replace(found, origin=item.origin) for found in judged.refusals)
        else:
            yield replace(item, obj=judged.stored)
