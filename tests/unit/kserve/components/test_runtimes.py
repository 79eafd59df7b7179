"""Which runtime is chosen (spec/kserve-runtimes.md 4 and 5)."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api.refs import Raw, Ref
from ingressctl.core.world import Reads
from ingressctl.sources.kserve.components import runtimes, shipped
from ingressctl.sources.kserve.components.faults import ModelFault
from ingressctl.sources.kserve.components.runtimes import Wanted
from tests.cases import comparing, selecting
from tests.unit.kserve.components import making

SERVICE = Ref("serving.kserve.io", "InferenceService", "team-a", "iris")
PLAIN = Wanted("sklearn", None, None, workers=False)

PROTOCOLS = st.lists(st.sampled_from(["v1", "v2", "grpc-v1", "grpc-v2"]), unique=True, max_size=3)
FORMATS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["sklearn", "xgboost"]), "version": st.sampled_from(["0", "1"])},
        optional={"autoSelect": st.booleans(), "priority": st.integers(1, 3)},
    ),
    max_size=3,
)


@st.composite
def catalogues(draw: st.DrawFn) -> list[Raw]:
    """Runtimes of both scopes, of few names, times and priorities, so that ties are common."""
    found: dict[tuple[str, str], Raw] = {}
    for _ in range(draw(st.integers(0, 6))):
        name, own = draw(st.sampled_from("abc")), draw(st.booleans())
        obj: dict[str, Any] = dict(
            making.runtime(name, *draw(FORMATS), protocolVersions=draw(PROTOCOLS))
        )
        second = draw(st.integers(0, 1))
        meta = {"name": name, "creationTimestamp": f"2026-01-01T00:00:0{second}Z"}
        if own:
            obj["kind"] = "ServingRuntime"
            meta["namespace"] = "team-a"
        found[obj["kind"], name] = {**obj, "metadata": meta}
    return list(found.values())


WANTED = st.builds(
    Wanted,
    st.just("sklearn"),
    st.sampled_from([None, "0", "1"]),
    st.sampled_from([None, "v1", "v2"]),
    st.just(False),
)


def chosen(objects: list[Raw], wanted: Wanted, compat: str = "kserve") -> Any:
    reads = making.reads(objects, making.settings(compat))
    try:
        choice = runtimes.choose(wanted, name=None, service=SERVICE, serving=None, reads=reads)
    except ModelFault as fault:
        return str(fault)
    return choice.serves.ref


@given(
    catalogues(), WANTED, st.randoms(use_true_random=False), st.sampled_from(["kserve", "better"])
)
def test_the_choice_does_not_depend_on_the_order_of_objects(
    objects: list[Raw], wanted: Wanted, random: Any, compat: str
) -> None:
    shuffled = list(objects)
    random.shuffle(shuffled)
    assert chosen(shuffled, wanted, compat) == chosen(objects, wanted, compat)


@given(catalogues(), WANTED)
def test_a_chosen_runtime_passes_the_check_of_a_named_one(
    objects: list[Raw], wanted: Wanted
) -> None:
    """What is chosen could as well have been named."""
    ref = chosen(objects, wanted)
    if isinstance(ref, str):
        return
    obj = next(obj for obj in objects if runtimes.ref_of(obj) == ref)
    runtimes.check(runtimes.parse(obj), wanted)


@given(catalogues(), WANTED)
def test_a_runtime_of_the_namespace_comes_first(objects: list[Raw], wanted: Wanted) -> None:
    found = runtimes.candidates(wanted, SERVICE, making.reads(objects))
    scopes = [runtime.ref.kind for runtime in found]
    assert scopes == sorted(scopes, reverse=True)


def test_the_runtime_that_serves_stays_while_it_fits() -> None:
    """R13; without it the better one takes over."""
    old = making.runtime("old", {**making.SKLEARN, "priority": 1})
    new = making.runtime("new", {**making.SKLEARN, "priority": 2})
    serving = Ref(*runtimes.CLUSTER, "", "old")

    def under(compat: str) -> runtimes.Choice:
        reads = making.reads([old, new], making.settings(compat))
        return runtimes.choose(PLAIN, name=None, service=SERVICE, serving=serving, reads=reads)

    kept = under("better")
    assert (kept.serves.ref.name, kept.better and kept.better.ref.name) == ("old", "new")
    assert under("kserve").serves.ref.name == "new"


def test_pod_and_annotations_from_one_object() -> None:
    """R6: a namespaced runtime of the chosen name that is no candidate takes no part."""
    cluster = making.runtime("rt", making.SKLEARN)
    own = dict(making.runtime("rt", making.XGBOOST), kind="ServingRuntime")
    own["metadata"] = {"name": "rt", "namespace": "team-a"}

    def named(compat: str) -> Ref:
        reads = making.reads([cluster, own], making.settings(compat))
        choice = runtimes.choose(PLAIN, name=None, service=SERVICE, serving=None, reads=reads)
        assert choice.serves.ref.kind == "ClusterServingRuntime"
        return choice.named.ref

    assert named("better").kind == "ClusterServingRuntime"
    assert named("better,-R6").kind == "ServingRuntime"


def test_priority_of_the_entry_that_matches() -> None:
    """R5: KServe takes the first entry of the format's name."""
    foreign = making.runtime("a", {**making.SKLEARN, "version": "0", "priority": 9}, making.SKLEARN)
    honest = making.runtime("b", {**making.SKLEARN, "priority": 2})
    wanted = PLAIN._replace(version="1")
    assert chosen([foreign, honest], wanted, "kserve").name == "a"
    assert chosen([foreign, honest], wanted, "kserve,+R5").name == "b"


def test_shipped_runtimes_are_those_that_kserve_installs() -> None:
    """Formats, protocols, server types and multi-node as the recorded installation has them."""
    recorded = {obj["metadata"]["name"]: obj for obj in installed()}
    ours = {obj["metadata"]["name"]: obj for obj in shipped.runtimes()}
    assert ours.keys() == recorded.keys()
    for name, obj in ours.items():
        mine, theirs = runtimes.parse(obj), runtimes.parse(recorded[name])
        assert set(mine.formats) == set(theirs.formats), name
        assert mine.protocols == theirs.protocols, name
        assert (mine.multi_model, mine.workers) == (theirs.multi_model, theirs.workers), name
        assert mine.annotations == theirs.annotations, name


def installed() -> list[dict[str, Any]]:
    return comparing.documents(selecting.SHIPPED.read_text())


@pytest.mark.parametrize(("assume", "found"), [("ready", True), ("observed", False)])
def test_shipped_runtimes_are_taken_only_where_files_are_assumed_ready(
    assume: str, found: bool
) -> None:
    reads = making.reads([], making.settings("better", assume=assume))
    assert bool(runtimes.candidates(PLAIN, SERVICE, reads)) is found


def test_every_list_that_was_read_is_recorded_for_everybody() -> None:
    """A runtime made later must wake services that shared a derived choice."""
    first = making.reads([making.runtime("a", making.SKLEARN)])
    second = Reads(first.world, first.settings, providers={})
    for reads in (first, second):
        runtimes.candidates(PLAIN, SERVICE, reads)
    assert first.lookups == second.lookups
    kinds = {lookup.key[:2] for lookup in second.lookups if lookup.what == "list"}
    assert kinds == {runtimes.NAMESPACED, runtimes.CLUSTER}
