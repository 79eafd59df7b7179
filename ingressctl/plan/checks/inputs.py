"""Things that somebody wrote and that nothing reads: misspelt fields and kinds.

An API server drops an unknown field and refuses an unknown kind; files alone would pass in
silence. A version that is not served is refused (plan/admitting.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ingressctl.api import inferencegraphs, unknown_fields
from ingressctl.api.inferenceservices import KIND
from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.outcome import Finding
from ingressctl.plan import cascade, kinds
from ingressctl.plan.checks.picture import Picture


def find(picture: Picture) -> Iterator[Finding]:
    """What the objects say in vain, as they were written."""
    return of_objects(picture.base)


def of_objects(objects: Iterable[Raw]) -> Iterator[Finding]:
    """What some objects say in vain."""
    for obj in objects:
        ref = ref_of(obj)
        yield from _kind(ref)
        if (ref.group, ref.kind) in (KIND, inferencegraphs.KIND):
            yield from _fields(obj)


def _kind(ref: Ref) -> Iterator[Finding]:
    meant = kinds.meant(ref.group, ref.kind)
    if meant:
        written = f"{ref.kind} ({ref.group})"
        yield Finding.of("IC1121", ref, path="kind", written=written, meant=meant)
    identity = (ref.group, ref.kind)
    if identity in kinds.ROUTELESS and identity not in cascade.SOURCES:
        yield Finding.of("IC1123", ref, kind=ref.kind)


def _fields(obj: Raw) -> Iterator[Finding]:
    for path, name, known in unknown_fields.find(obj):
        guess = f" (did you mean {known}?)" if known else ""
        kind = ref_of(obj).kind
        yield Finding.of("IC1120", ref_of(obj), path=path, kind=kind, name=name, guess=guess)
