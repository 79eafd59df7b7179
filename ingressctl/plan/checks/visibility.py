"""Somebody asked for a private object and got a public one (F23, F1).

Three label keys over time, each read in one place only; other values than cluster-local
are ignored by all of them, and so is the same key among the annotations.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import lru_cache

from ingressctl.api import configmaps, inferencegraphs
from ingressctl.api.inferenceservices import (
    CLUSTER_LOCAL,
    KNATIVE_VISIBILITY,
    KSERVE_VISIBILITY,
    RETIRED_VISIBILITY,
    InferenceService,
    ViewFault,
)
from ingressctl.api.refs import Ref, annotations_of, labels_of
from ingressctl.core.kserve import configuration
from ingressctl.core.outcome import Finding
from ingressctl.core.values import Value
from ingressctl.plan import internal
from ingressctl.plan.checks.picture import KNATIVE_SERVICE, Picture
from ingressctl.sources.graph import reconcile as graphs
from ingressctl.sources.graph import view

KEYS = (KNATIVE_VISIBILITY, KSERVE_VISIBILITY)
ALL_KEYS = (*KEYS, RETIRED_VISIBILITY)
PUBLIC = frozenset({"public", "external", "externalip", "cluster-external", "false"})
"""Values that ask for nothing but what the object is anyway."""


class Labelled(Value, frozen=True):
    """What has labels; `right` is the key that is read there, `both` whether the other is too."""

    ref: Ref
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    right: str
    both: bool


def find(picture: Picture) -> Iterator[Finding]:
    """Visibility labels that are not read, and domains that make everything internal."""
    for one in (*_services(picture), *_graphs(picture), *_plain(picture)):
        yield from _labels(one)
    for service in picture.services:
        if picture.mode(service) not in ("", "Standard"):
            found = internal.by_domain(service, picture.reads)
            if found is not None:
                yield found


def _services(picture: Picture) -> Iterator[Labelled]:
    for service in picture.services:
        mode = picture.mode(service)
        if mode:
            yield _served(service, mode, both=picture.reads.differs("Q46"))


def _graphs(picture: Picture) -> Iterator[Labelled]:
    """Graphs that somebody can reach from outside: in Standard mode only by a route of ours."""
    reads = picture.reads
    for obj in picture.world.list(inferencegraphs.KIND):
        try:
            graph = view.of(obj, picture.world)
            mode = graphs.resolve_mode(graph, configuration.load(reads), reads)
        except (ViewFault, configmaps.ConfigFault):
            continue  # told elsewhere
        ours = mode == "Standard" or "workloads" in picture.settings.write
        if mode != "Standard" or reads.differs("IG-R4"):
            yield _served(graph, mode, both=ours and reads.differs("Q46"))


def _plain(picture: Picture) -> Iterator[Labelled]:
    """Knative Services of nobody."""
    for ref, obj in picture.objects(KNATIVE_SERVICE):
        if ref not in picture.made:
            found = labels_of(obj), annotations_of(obj)
            yield Labelled(ref, *found, right=KNATIVE_VISIBILITY, both=False)


def _served(one: InferenceService | view.Graph, mode: str, *, both: bool) -> Labelled:
    right = KSERVE_VISIBILITY if mode == "Standard" else KNATIVE_VISIBILITY
    return Labelled(one.ref, one.labels, one.annotations, right, both)


def _labels(one: Labelled) -> Iterator[Finding]:
    right = one.right
    if one.labels.get(right) == CLUSTER_LOCAL:
        return
    other = next((key for key in KEYS if key != right), "")
    if one.labels.get(other) == CLUSTER_LOCAL:
        code = "IC1112" if one.both else "IC1111"
        yield Finding.of(code, one.ref, path=_path(other), written=other, right=right)
        return
    for key, value in one.labels.items():
        if key in ALL_KEYS or _looks_like_a_wish(key, value):
            yield _unread(one, _path(key), key, value)
    for key in ALL_KEYS:
        if key in one.annotations:
            path, name = f'metadata.annotations["{key}"]', f"{key} among the annotations"
            yield _unread(one, path, name, one.annotations[key])


def _unread(one: Labelled, path: str, key: str, value: str) -> Finding:
    """A wish that nobody reads; only a word about it where none is lost."""
    code = "IC1113" if value.strip().lower() in PUBLIC else "IC1110"
    return Finding.of(code, one.ref, path=path, key=key, value=value, right=one.right)


def _path(key: str) -> str:
    return f'metadata.labels["{key}"]'


def _looks_like_a_wish(key: str, value: str) -> bool:
    """Whether a label is nearly one of the known ones."""
    return _close(value, CLUSTER_LOCAL) and _close(key.rpartition("/")[2], "visibility")


@lru_cache(maxsize=4096)
def _close(text: str, wanted: str) -> bool:
    if abs(len(text) - len(wanted)) > 3:
        return False
    return difflib.SequenceMatcher(None, text.lower(), wanted).ratio() > 0.8
