"""Files laid over a base: the world as it would be if they were applied.

An object of a file replaces spec, data, labels and annotations; uid, creation time, owner
and status stay those of the base unless the file gives them (ux.md 8.2). Nothing of the base
is removed. Objects without a namespace get one, visibly.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.core.outcome import Finding, Origin
from ingressctl.core.world import World
from ingressctl.plan import kinds
from ingressctl.plan.manifests import Document, Note

TRIED = Origin("--set")
"""Where a ConfigMap comes from that a --set changed: it is no second copy of that of a file."""

OWN_METADATA = ("labels", "annotations")
"""Metadata that a file speaks for even by silence."""


@dataclass(frozen=True, slots=True)
class Written:
    """An object that a person wrote: as it will be, and as the base has it."""

    ref: Ref
    obj: Raw
    origin: Origin
    before: Raw | None


@dataclass(frozen=True, slots=True)
class Laid:
    """The base with files over it. `twice` tells of objects that are given more than once."""

    base: World
    world: World
    written: tuple[Written, ...]
    notices: tuple[Note, ...]
    twice: tuple[Finding, ...]

    @property
    def fresh(self) -> frozenset[Ref]:
        """Objects that only files hold and that carry no status (design.md section 5).

        What a cluster holds has a uid; a folder of manifests is files like any other.
        """
        return frozenset(ref_of(obj) for obj in self.world if not is_held(obj))


def is_held(obj: Raw) -> bool:
    """Whether an API server or a controller has seen the object."""
    return bool(obj.get("status") or (obj.get("metadata") or {}).get("uid"))


def lay(base: World, documents: Iterable[Document], *, namespace: str, named: bool) -> Laid:
    """Put `documents` over `base`; of two with one identity the later holds.

    `namespace` is for objects without one; `named` says that a person chose it.
    """
    given, told = placed(tuple(documents), namespace=namespace, named=named)
    notices = [*told, *_unknown_kinds(given)]
    written: dict[Ref, Written] = {}
    twice: list[Finding] = []
    for document in given:
        ref = ref_of(document.obj)
        if ref in written and document.origin != TRIED:
            twice.append(_twice(ref, document.origin, written[ref].origin))
        before = base.get(ref)
        written[ref] = Written(ref, over(before, document.obj), document.origin, before)
    world = base.overlay(item.obj for item in written.values()) if written else base
    return Laid(base, world, tuple(written.values()), tuple(notices), tuple(twice))


def over(base: Raw | None, obj: Raw) -> Raw:
    """The object as it would be stored: the file's word, and the base's bookkeeping."""
    if base is None:
        return obj
    kept = {
        key: value for key, value in (base.get("metadata") or {}).items() if key not in OWN_METADATA
    }
    result = {**obj, "metadata": {**kept, **(obj.get("metadata") or {})}}
    if not obj.get("status") and base.get("status"):
        result["status"] = base["status"]
    return result


def placed(
    documents: tuple[Document, ...], *, namespace: str, named: bool
) -> tuple[tuple[Document, ...], tuple[Note, ...]]:
    """The documents, each in a namespace where its kind needs one, and what is said of it."""
    bare = [document for document in documents if _needs_namespace(document.obj)]
    if not bare:
        return documents, ()
    text = f"{_names(bare)} without a namespace: {namespace!r} is taken"
    remedy = "" if named else "choose another with -n, or write metadata.namespace"
    told = Note(text, remedy, bare[0].origin)
    given = tuple(
        Document(_in_namespace(document.obj, namespace), document.origin)
        if _needs_namespace(document.obj)
        else document
        for document in documents
    )
    return given, (told,)


def _needs_namespace(obj: Raw) -> bool:
    ref = ref_of(obj)
    return not ref.namespace and kinds.namespaced((ref.group, ref.kind))


def _in_namespace(obj: Raw, namespace: str) -> Raw:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


def _names(documents: list[Document]) -> str:
    first = ref_of(documents[0].obj)
    rest = len(documents) - 1
    if not rest:
        return f"{first.kind} {first.name}"
    return f"{first.kind} {first.name} and {rest} more object{'s' if rest > 1 else ''}"


def _unknown_kinds(documents: tuple[Document, ...]) -> Iterable[Note]:
    strange: dict[tuple[str, str], list[Document]] = {}
    for document in documents:
        ref = ref_of(document.obj)
        if not kinds.known((ref.group, ref.kind)):
            strange.setdefault((ref.group, ref.kind), []).append(document)
    for (group, kind), found in strange.items():
        if kinds.meant(group, kind) or (group, kind) in kinds.ROUTELESS:
            continue  # a finding tells more (plan/checks/inputs.py)
        called = f"{kind} ({group})" if group else kind
        text = f"{_names(found)}: kind {called} is not known here and has no effect on routes"
        yield Note(text, "", found[0].origin)


def _twice(ref: Ref, later: Origin, earlier: Origin) -> Finding:
    return replace(Finding.of("IC1502", ref, earlier=str(earlier)), origin=later)
