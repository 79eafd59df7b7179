"""Admission of InferenceGraphs: one set of rules for the webhook, `check` and the router.

`refusals` is what a router asks of the graph it is given, with no object and no world
around it. `of_object` is the webhook: the same rules, KServe's own five checks, those of
the graph as a workload, and loops over other graphs. `warnings` refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ingressctl.api.admission import modes
from ingressctl.api.admission.graphs import (
    across,
    effects,
    kserve,
    numbers,
    own,
    resolved,
    steps,
    structure,
)
from ingressctl.api.admission.refusals import Differs, Refusal
from ingressctl.api.inferencegraphs import Spec
from ingressctl.api.refs import Raw

__all__ = ["of_object", "refusals", "warnings"]

warnings = effects.warnings


def refusals(spec: Spec, *, differs: Differs) -> tuple[Refusal, ...]:
    """Why a router does not start with this graph; empty if it does."""
    unresolved = resolved.refusals(spec) if differs("IG-D38") else ()
    return (*steps.at_start(spec, differs=differs), *_of_spec(spec, differs), *unresolved)


def _of_spec(spec: Spec, differs: Differs) -> Iterator[Refusal]:
    yield from structure.refusals(spec, differs=differs)
    yield from steps.refusals(spec, differs=differs)
    yield from own.refusals(spec)


def of_object(
    new: Raw,
    spec: Spec,
    *,
    config: Mapping[str, str],
    differs: Differs,
    peers: Iterable[Raw],
) -> Iterator[Refusal]:
    """Why the graph is not stored. `peers` are the other graphs there are."""
    metadata, status = new.get("metadata") or {}, new.get("status") or {}
    name, annotations = str(metadata.get("name", "")), metadata.get("annotations") or {}
    mode = modes.resolve(status.get("deploymentMode"), annotations, config)
    yield from kserve.refusals(name, spec, differs=differs)
    yield from _of_spec(spec, differs)
    yield from numbers.refusals(name, spec, annotations, mode, differs=differs)
    if differs("IG-D1"):
        yield from across.loops(new, peers)
