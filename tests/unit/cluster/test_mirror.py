"""The picture: whom a change wakes, what is stale, and what may not be believed."""

from __future__ import annotations

from typing import Any

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cluster.informers import State
from ingressctl.cluster.mirror import MANY, Mirror
from ingressctl.cluster.queue import Urgency
from ingressctl.core.outcome import Finding
from ingressctl.core.settings import Settings
from ingressctl.core.world import Claim, Claimant, Lookup
from ingressctl.plan import cascade, kinds
from ingressctl.plan.kinds import Resource
from tests.apiserver import made

ISVC = kinds.BY_IDENTITY[kinds.INFERENCE_SERVICE]
ROUTE = kinds.BY_IDENTITY["gateway.networking.k8s.io", "HTTPRoute"]
CONFIG = Ref("", "ConfigMap", "kserve", "inferenceservice-config")


class Seen:
    """Everything a mirror tells."""

    def __init__(self) -> None:
        self.woken: list[tuple[str, Urgency]] = []
        self.states: list[State] = []
        self.left_out: list[tuple[str, bool]] = []
        self.configurations: list[tuple[bool, int]] = []
        self.kept: list[bool] = []

    def wake(self, ref: Ref, urgency: Urgency) -> None:
        self.woken.append((ref.name, urgency))

    def kind(self, resource: Resource, namespace: str, state: State, message: str) -> None:
        self.states.append(state)

    def unreadable(self, ref: Ref, text: str) -> None:
        self.left_out.append((ref.name, bool(text)))

    def configuration(self, obj: Raw | None, refused: tuple[Finding, ...], *, kept: bool) -> None:
        self.configurations.append((obj is not None, len(refused)))
        self.kept.append(kept)

    def moved(self, ref: Ref) -> None:
        """Not looked at here."""


class Follower:
    """Stands for an informer."""

    def __init__(self, resource: Resource, *offered: str) -> None:
        self.resource = resource
        self.namespace = ""
        self.now: State = "starting"
        self.offered = frozenset(offered)
        self.reached = 0


def mirror(seen: Seen) -> Mirror:
    return Mirror(
        Settings(),
        claimants=cascade.CLAIMANTS,
        sources=cascade.SOURCES,
        wake=seen.wake,
        heard=seen,
    )


async def begun(seen: Seen, *objects: Raw) -> Mirror:
    made_of = mirror(seen)
    for obj in objects:
        made_of.put(obj)
    await made_of.begin()
    seen.woken.clear()
    return made_of


def versioned(obj: dict[str, Any], version: int, uid: str = "u") -> dict[str, Any]:
    meta = {**obj["metadata"], "resourceVersion": str(version), "uid": uid}
    return {**obj, "metadata": meta}


def deployment(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": "team-a"},
        "spec": {"replicas": 1},
    }


async def test_nothing_is_woken_before_the_first_picture_is_whole() -> None:
    seen = Seen()
    made_of = mirror(seen)
    made_of.put(versioned(made.service("iris"), 1))
    assert seen.woken == []
    await made_of.begin()
    assert seen.woken == [("iris", Urgency.BULK)]


async def test_exactly_those_are_woken_who_looked() -> None:
    seen = Seen()
    made_of = await begun(seen)
    for number in range(3):
        owner, child = ref_of(made.service(f"s-{number}")), ref_of(deployment(f"d-{number}"))
        made_of.picture.learn(owner, [Lookup("get", child, False)])
    made_of.put(versioned(deployment("d-1"), 5))
    assert seen.woken == [("s-1", Urgency.CHANGE)]
    made_of.remove(ref_of(deployment("d-1")), "6")
    assert seen.woken == [("s-1", Urgency.CHANGE)] * 2
    made_of.put(versioned(deployment("unknown"), 7))
    assert len(seen.woken) == 2


async def test_an_edit_goes_before_a_status_and_both_before_bulk() -> None:
    seen = Seen()
    iris = versioned(made.service("iris"), 1)
    made_of = await begun(seen, iris)
    made_of.put(versioned({**iris, "status": {"x": 1}}, 2))
    made_of.put(versioned(made.service("iris", image="other"), 3))
    assert seen.woken == [("iris", Urgency.CHANGE), ("iris", Urgency.EDIT)]
    seen.woken.clear()
    for number in range(MANY + 1):
        owner = ref_of(made.service(f"s-{number}"))
        made_of.picture.learn(owner, [Lookup("get", ref_of(deployment("all")), False)])
    made_of.put(versioned(deployment("all"), 4))
    assert {urgency for _, urgency in seen.woken} == {Urgency.BULK}
    assert len(seen.woken) == MANY + 1


async def test_stale_versions_change_nothing() -> None:
    """A watch that tells what an answer has told already, or what is long past."""
    seen = Seen()
    new = versioned(made.service("iris", image="new"), 10)
    made_of = await begun(seen, new)
    for version in (9, 10):
        made_of.put(versioned(made.service("iris", image="old"), version))
    assert made_of.picture.get(ref_of(new)) == new
    assert seen.woken == []


async def test_a_late_word_of_an_earlier_object_changes_nothing() -> None:
    """It was deleted and made again by us: what a watch tells of the one before is past."""
    seen = Seen()
    again = versioned(deployment("d"), 12, uid="second")
    made_of = await begun(seen, again)
    made_of.put(versioned(deployment("d"), 10, uid="first"))
    made_of.remove(ref_of(again), "11")
    assert made_of.picture.get(ref_of(again)) == again
    made_of.remove(ref_of(again), "13")
    assert made_of.picture.get(ref_of(again)) is None


async def test_what_was_written_during_a_list_survives_it() -> None:
    """The list is of version 20; what it lacks and we wrote at 25 is there."""
    made_of = await begun(
        Seen(), versioned(deployment("written"), 25), versioned(deployment("old"), 5)
    )
    for ref in made_of.known(kinds.BY_IDENTITY["apps", "Deployment"], ""):
        made_of.remove(ref, "20")
    assert made_of.picture.get(ref_of(deployment("old"))) is None
    assert made_of.picture.get(ref_of(deployment("written"))) is not None


async def test_an_answer_that_is_later_than_the_end_of_its_object_is_none() -> None:
    """The watch told the end at 12; the answer to a write of 10 took longer."""
    made_of = await begun(Seen())
    informer = Follower(kinds.BY_IDENTITY["apps", "Deployment"])
    made_of.expect(informer)
    late, new = versioned(deployment("d"), 10), versioned(deployment("d"), 13, uid="second")
    made_of.learn(ref_of(late), late)
    assert made_of.picture.get(ref_of(late)) == late, "the watch has not come so far"
    made_of.remove(ref_of(late), "12")
    informer.reached = 12
    made_of.learn(ref_of(late), late)
    assert made_of.picture.get(ref_of(late)) is None
    made_of.learn(ref_of(new), new)
    assert made_of.picture.get(ref_of(new)) == new


async def test_a_broken_configuration_keeps_the_last_good_one() -> None:
    seen = Seen()
    good = versioned(made.config(), 1)
    made_of = await begun(seen, good)
    broken = versioned({**made.config(), "data": {"ingress": "{"}}, 2)
    made_of.put(broken)
    assert made_of.picture.get(CONFIG) == good
    assert seen.configurations == [(True, 1)]
    better = versioned(made.config(ingressDomain="example.org"), 3)
    made_of.put(better)
    assert made_of.picture.get(CONFIG) == better
    assert seen.configurations == [(True, 1), (True, 0)]


async def test_a_broken_configuration_without_a_good_one_is_in_force_until_there_is_one() -> None:
    """Each version of it, so that owners tell what is wrong now; and nobody is told that a good
    one stays."""
    seen = Seen()
    broken = versioned({**made.config(), "data": {"ingress": "{"}}, 1)
    made_of = await begun(seen, broken)
    worse = versioned({**made.config(), "data": {"ingress": "["}}, 2)
    made_of.put(worse)
    assert made_of.picture.get(CONFIG) == worse
    assert made_of.misconfigured
    good = versioned(made.config(), 3)
    made_of.put(good)
    assert not made_of.misconfigured
    made_of.put(versioned(worse, 4))
    assert made_of.picture.get(CONFIG) == good
    assert not made_of.misconfigured
    assert seen.kept == [False, False, True, True]


async def test_a_deleted_configuration_stays_in_force_and_is_told_once() -> None:
    seen = Seen()
    good = versioned(made.config(), 1)
    made_of = await begun(seen, good)
    made_of.remove(CONFIG, "2")
    made_of.remove(CONFIG, "9")  # the next list lacks it too
    assert made_of.picture.get(CONFIG) == good
    assert seen.configurations == [(False, 0)]
    made_of.put(versioned(made.config(ingressDomain="example.org"), 10, uid="second"))
    assert seen.configurations == [(False, 0), (True, 0)]
    made_of.remove(CONFIG, "11")
    assert seen.configurations[2:] == [(False, 0)]


async def test_an_object_that_rules_cannot_read_is_left_out_until_it_can_be() -> None:
    seen = Seen()
    made_of = await begun(seen)
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "odd", "namespace": "team-a"},
        "spec": {"rules": "none"},
    }
    made_of.put(versioned(route, 1))
    assert made_of.picture.get(ref_of(route)) is None
    fine = versioned({**route, "spec": {"rules": []}}, 2)
    made_of.put(fine)
    assert made_of.picture.get(ref_of(route)) == fine
    made_of.put(versioned(route, 3))
    assert made_of.picture.get(ref_of(route)) is None
    made_of.remove(ref_of(route), "4")
    assert seen.left_out == [("odd", True), ("odd", False), ("odd", True), ("odd", False)]


async def test_kinds_whose_list_is_not_whole() -> None:
    """Absent from the start is no gap; absent after it was there is one."""
    made_of = mirror(Seen())
    route = Follower(ROUTE, "v1")
    made_of.expect(route)
    assert made_of.incomplete == {ROUTE.identity}
    assert not made_of.complete
    expected: list[tuple[State, bool]] = [
        ("absent", False),
        ("live", False),
        ("absent", True),
        ("live", False),
        ("forbidden", True),
        ("failing", True),
    ]
    for state, gap in expected:
        made_of.state(route, state, "")
        assert bool(made_of.incomplete) is gap, state


async def test_a_kind_that_comes_or_goes_wakes_everything() -> None:
    seen = Seen()
    made_of = mirror(seen)
    made_of.put(versioned(made.service("iris"), 1))
    route = Follower(ROUTE, "v1")
    made_of.expect(route)
    made_of.state(route, "absent", "")
    await made_of.begin()
    assert ROUTE.identity in made_of.settings.absent
    seen.woken.clear()
    made_of.state(route, "live", "")
    assert seen.woken == [("iris", Urgency.BULK)]
    assert ROUTE.identity not in made_of.settings.absent
    made_of.state(route, "absent", "")
    assert ROUTE.identity not in made_of.settings.absent, "it was there: its objects are unknown"
    assert len(seen.woken) == 2


async def test_objects_are_written_in_a_version_that_is_served() -> None:
    made_of = mirror(Seen())
    assert made_of.version(ROUTE.identity, "v1") == "v1"
    made_of.state(Follower(ROUTE, "v1beta1"), "live", "")
    assert made_of.version(ROUTE.identity, "v1") == "v1beta1"
    made_of.state(Follower(ROUTE, "v1", "v1beta1"), "live", "")
    assert made_of.version(ROUTE.identity, "v1") == "v1"


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


async def test_an_object_that_nothing_can_be_made_of_harms_no_other() -> None:
    """300 levels are more than can be stored here; an API server takes them all the same."""
    seen = Seen()
    made_of = await begun(seen, versioned(made.service("iris"), 1))
    odd = versioned(made.service("odd"), 2)
    odd["spec"] = {"predictor": {"logger": nested(300)}}
    made_of.put(odd)
    made_of.put(versioned(made.service("rose"), 3))
    assert seen.left_out == [("odd", True)]
    assert [ref.name for ref in made_of.picture.index.refs(ref_of(odd)[:2], None)] == [
        "iris",
        "rose",
    ]
    made_of.put(versioned(made.service("odd"), 4))
    assert seen.left_out == [("odd", True), ("odd", False)]


async def test_a_claimant_that_fails_stops_nobody() -> None:
    seen = Seen()

    def fail(obj: Raw, reads: Any) -> tuple[Claim, ...]:
        raise TypeError("odd")

    claimant = Claimant(("serving.kserve.io", "InferenceService"), fail)
    made_of = Mirror(
        Settings(), claimants=(claimant,), sources=cascade.SOURCES, wake=seen.wake, heard=seen
    )
    made_of.put(versioned(made.service("iris"), 1))
    await made_of.begin()
    assert [name for name, _ in seen.woken] == ["iris"]


async def test_after_a_restore_lower_versions_are_news() -> None:
    seen = Seen()
    made_of = await begun(seen, versioned(deployment("d"), 100))
    earlier = versioned(deployment("d"), 50)
    made_of.put(earlier)
    assert made_of.picture.get(ref_of(earlier)) != earlier
    made_of.put(earlier, whatever_was=True)
    assert made_of.picture.get(ref_of(earlier)) == earlier
