"""Things that somebody wrote and that nothing reads: misspelt fields, kinds and versions.

An API server drops an unknown field and refuses an unknown kind; files alone would pass in
silence.
"""

from __future__ import annotations

from collections.abc import Iterator

from ingressctl.api import unknown_fields
from ingressctl.api.inferenceservices import KIND
from ingressctl.api.refs import Raw, ref_of
from ingressctl.core.outcome import Finding
from ingressctl.core.world import World
from ingressctl.plan import cascade, kinds
from ingressctl.plan.checks.picture import Picture


def find(picture: Picture) -> Iterator[Finding]:
    """What the objects say in vain, as they were written."""
    return of_world(picture.base)


def of_world(world: World) -> Iterator[Finding]:
    """What the objects of a world say in vain."""
    for obj in world:
        yield from _kind(obj)
    for obj in world.list(KIND):
        yield from _fields(obj)


def _kind(obj: Raw) -> Iterator[Finding]:
    ref, version = ref_of(obj), str(obj["apiVersion"]).rpartition("/")[2]
    meant = kinds.meant(ref.group, ref.kind)
    if meant:
        written = f"{ref.kind} ({ref.group})"
        yield Finding.of("IC1121", ref, path="kind", written=written, meant=meant)
    served = kinds.unserved(ref.group, ref.kind, version)
    if served:
        right = f"{ref.group}/{served[0]}"
        yield Finding.of(
            "IC1122", ref, path="apiVersion", kind=ref.kind, written=version, right=right
        )
    identity = (ref.group, ref.kind)
    if identity in kinds.ROUTELESS and identity not in cascade.SOURCES:
        yield Finding.of("IC1123", ref, kind=ref.kind)


def _fields(obj: Raw) -> Iterator[Finding]:
    for path, name, known in unknown_fields.find(obj):
        guess = f" (did you mean {known}?)" if known else ""
        yield Finding.of("IC1120", ref_of(obj), path=path, name=name, guess=guess)
