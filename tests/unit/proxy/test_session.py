"""What is sent to an Envoy, and when: make before break, and refusals."""

from __future__ import annotations

from envoy.service.discovery.v3 import discovery_pb2

from ingressctl.providers.envoy import names
from ingressctl.proxy.session import BATCH, Session
from ingressctl.proxy.store import Refusal, Store

TABLES = (names.SCOPE, names.ROUTES)
Response = discovery_pb2.DeltaDiscoveryResponse


class Dialogue:
    """A session and the Envoy at its other end."""

    def __init__(self, **resources: str) -> None:
        self.store = Store()
        self.refused: list[Refusal] = []
        self.session = Session(self.store, self.refused.append)
        for name, kind in resources.items():
            self.store.apply((kind, name), b"1")

    def change(self, *keys: tuple[str, str], body: bytes | None = b"2") -> None:
        for key in keys:
            self.store.apply(key, body)
            self.session.changed(*key)

    def ask(self, kind: str, *wanted: str, have: dict[str, str] | None = None) -> None:
        self.session.request(
            discovery_pb2.DeltaDiscoveryRequest(
                type_url=kind, resource_names_subscribe=wanted, initial_resource_versions=have or {}
            )
        )

    def answers(self) -> list[Response]:
        return list(self.session.responses())

    def accept(self, response: Response, error: str = "") -> None:
        request = discovery_pb2.DeltaDiscoveryRequest(
            type_url=response.type_url, response_nonce=response.nonce
        )
        if error:
            request.error_detail.message = error
        self.session.request(request)

    def sent(self) -> list[tuple[str, list[str], list[str]]]:
        """What is sent now, accepted at once."""
        told = []
        for response in self.answers():
            present = [item.name for item in response.resources]
            told.append((response.type_url, present, list(response.removed_resources)))
            self.accept(response)
        return told

    def settle(self) -> list[tuple[str, list[str], list[str]]]:
        """Everything that is sent until nothing is left."""
        told: list[tuple[str, list[str], list[str]]] = []
        while now := self.sent():
            told += now
        return told


def started() -> Dialogue:
    """An Envoy that has one cluster with endpoints, a scope and its table."""
    dialogue = Dialogue()
    for kind in (names.CLUSTER, names.ENDPOINTS, names.SCOPE, names.ROUTES):
        dialogue.store.apply((kind, "a"), b"1")
    dialogue.ask(names.CLUSTER)
    dialogue.sent()
    dialogue.ask(names.ENDPOINTS, "a")
    dialogue.ask(names.SCOPE)
    dialogue.ask(names.ROUTES, "a")
    dialogue.settle()
    assert dialogue.session.idle
    return dialogue


def test_an_empty_store_is_an_answer_too() -> None:
    """Envoy waits for the first answer of each type before it serves."""
    dialogue = Dialogue()
    dialogue.ask(names.CLUSTER)
    assert dialogue.sent() == [(names.CLUSTER, [], [])]
    assert dialogue.session.idle


def test_routes_wait_until_their_cluster_has_endpoints() -> None:
    dialogue = started()
    dialogue.change((names.CLUSTER, "b"), (names.ENDPOINTS, "b"), (names.ROUTES, "a"))
    assert dialogue.settle() == [(names.CLUSTER, ["b"], [])]
    assert not dialogue.session.idle
    dialogue.ask(names.ENDPOINTS, "b")
    assert dialogue.settle() == [(names.ENDPOINTS, ["b"], []), (names.ROUTES, ["a"], [])]
    assert dialogue.session.idle


def test_a_change_of_routes_alone_is_sent_at_once() -> None:
    dialogue = started()
    dialogue.change((names.ROUTES, "a"))
    assert [response.type_url for response in dialogue.answers()] == [names.ROUTES]


def test_what_nothing_leads_to_goes_last() -> None:
    dialogue = started()
    keys = [(kind, "a") for kind in (names.CLUSTER, names.ENDPOINTS, names.SCOPE, names.ROUTES)]
    dialogue.change(*keys, body=None)
    kinds = [kind for kind, _, gone in dialogue.settle() if gone]
    assert kinds == [names.SCOPE, names.ROUTES, names.CLUSTER, names.ENDPOINTS]


def test_a_cluster_stays_while_the_routes_away_from_it_are_not_acknowledged() -> None:
    dialogue = started()
    dialogue.change((names.ROUTES, "a"))
    dialogue.change((names.CLUSTER, "a"), body=None)
    (routes,) = dialogue.answers()
    assert dialogue.answers() == []
    dialogue.accept(routes)
    assert [response.removed_resources for response in dialogue.answers()] == [["a"]]


def test_a_refused_cluster_holds_back_what_leads_to_it() -> None:
    """The last good routes go on; the next change is tried again."""
    dialogue = started()
    dialogue.change((names.CLUSTER, "b"), (names.ENDPOINTS, "b"), (names.ROUTES, "a"))
    (cluster,) = dialogue.answers()
    dialogue.accept(cluster, error="bad cluster")
    assert dialogue.refused == [Refusal(names.CLUSTER, ("b",), "bad cluster")]
    assert dialogue.answers() == []
    dialogue.change((names.CLUSTER, "b"), body=b"3")
    dialogue.settle()
    dialogue.ask(names.ENDPOINTS, "b")
    assert (names.ROUTES, ["a"], []) in dialogue.settle()


def test_a_name_that_does_not_exist_is_said_to_be_absent() -> None:
    dialogue = started()
    dialogue.ask(names.ROUTES, "nobody")
    assert dialogue.settle() == [(names.ROUTES, [], ["nobody"])]
    dialogue.change((names.ROUTES, "nobody"))
    assert dialogue.settle() == [(names.ROUTES, ["nobody"], [])]


def test_after_a_reconnect_only_news_are_sent() -> None:
    dialogue = started()
    have = {"a": dialogue.store.versions[names.CLUSTER, "a"]}
    again = Session(dialogue.store, dialogue.refused.append)
    dialogue.session = again
    dialogue.ask(names.CLUSTER, have=have)
    assert dialogue.settle() == [(names.CLUSTER, [], [])]
    dialogue.change((names.CLUSTER, "a"))
    assert dialogue.settle() == [(names.CLUSTER, ["a"], [])]


def test_what_is_left_to_a_returning_envoy_is_not_taken_away() -> None:
    """Neither by a wildcard nor by name; a body of that name that there is here counts."""
    told: list[tuple[str, ...]] = []
    dialogue = Dialogue(here=names.SCOPE)
    dialogue.store.left = {(kind, name) for kind in TABLES for name in ("left", "here")}
    dialogue.session = Session(dialogue.store, dialogue.refused.append, returned=told.append)
    dialogue.ask(names.CLUSTER, have={"c": "1"})
    dialogue.ask(names.SCOPE, have={"left": "1", "here": "1", "gone": "1"})
    dialogue.ask(names.ROUTES, "left", have={"left": "1"})
    assert told == [("c",)]
    assert dialogue.settle() == [
        (names.CLUSTER, [], []),
        (names.SCOPE, ["here"], []),
        (names.SCOPE, [], ["gone"]),
        (names.CLUSTER, [], ["c"]),
    ]
    dialogue.store.left = set()
    for name in ("left", "here", "never"):
        for kind in TABLES:
            dialogue.session.ended(kind, name)
    assert dialogue.settle() == [(names.SCOPE, [], ["left"]), (names.ROUTES, [], ["left"])]


def test_great_numbers_come_in_several_messages() -> None:
    dialogue = Dialogue()
    for number in range(BATCH + 1):
        dialogue.store.apply((names.SCOPE, str(number)), b"1")
    dialogue.ask(names.SCOPE)
    assert [len(present) for _, present, _ in dialogue.settle()] == [BATCH, 1]


def test_nothing_is_sent_that_nobody_asked_for() -> None:
    dialogue = started()
    dialogue.change((names.ROUTES, "other"), (names.ENDPOINTS, "other"))
    assert dialogue.settle() == []
    assert dialogue.session.idle


def test_versions_mean_the_same_in_every_process() -> None:
    """So a replica need not send what another one has sent already."""
    one, other = Store(), Store()
    one.apply((names.ROUTES, "before"), b"0")
    for store in (one, other):
        store.apply((names.ROUTES, "a"), b"same")
    assert one.versions[names.ROUTES, "a"] == other.versions[names.ROUTES, "a"]
    other.apply((names.ROUTES, "a"), b"different")
    assert one.versions[names.ROUTES, "a"] != other.versions[names.ROUTES, "a"]


def reconnected(dialogue: Dialogue) -> None:
    """Another process with the same store, which Envoy tells what it has."""
    versions = dict(dialogue.store.versions)
    dialogue.session = Session(dialogue.store, dialogue.refused.append)
    for kind in (names.CLUSTER, names.ENDPOINTS, names.SCOPE, names.ROUTES):
        wanted = ("a",) if kind in (names.ENDPOINTS, names.ROUTES) else ()
        dialogue.ask(kind, *wanted, have={"a": versions[kind, "a"]})


def test_after_a_reconnect_named_resources_are_not_sent_again_either() -> None:
    dialogue = started()
    reconnected(dialogue)
    assert {(tuple(new), tuple(gone)) for _, new, gone in dialogue.settle()} == {((), ())}
    assert dialogue.session.lacks is None


def test_what_went_while_an_envoy_was_away_goes_from_it_too() -> None:
    dialogue = started()
    have = {"a": dialogue.store.versions[names.SCOPE, "a"], "old": "of another process"}
    dialogue.session = Session(dialogue.store, dialogue.refused.append)
    dialogue.ask(names.SCOPE, have=have)
    assert (names.SCOPE, [], ["old"]) in dialogue.settle()


def test_it_is_known_which_changes_were_taken() -> None:
    dialogue = started()
    dialogue.store.number = 1
    dialogue.change((names.ROUTES, "a"))
    dialogue.store.number = 2
    dialogue.change((names.CLUSTER, "a"))
    assert dialogue.session.lacks == 1
    for response in dialogue.answers():
        dialogue.accept(response)
    assert dialogue.session.lacks == 1
    dialogue.settle()
    assert dialogue.session.lacks is None


def test_an_envoy_that_asked_for_nothing_yet_lacks_everything() -> None:
    dialogue = started()
    dialogue.session = Session(dialogue.store, dialogue.refused.append)
    assert dialogue.session.lacks == 0


def test_a_new_scope_is_taken_when_its_table_is() -> None:
    dialogue = started()
    dialogue.store.number = 7
    dialogue.change((names.SCOPE, "b"), (names.ROUTES, "b"))
    assert dialogue.settle() == [(names.SCOPE, ["b"], [])]
    assert dialogue.session.lacks == 7
    dialogue.ask(names.ROUTES, "b")
    dialogue.settle()
    assert dialogue.session.lacks is None


def test_what_was_refused_is_not_taken_until_it_is_another() -> None:
    dialogue = started()
    dialogue.store.number = 3
    dialogue.change((names.ROUTES, "a"))
    (table,) = dialogue.answers()
    dialogue.accept(table, error="bad table")
    assert dialogue.session.lacks == 3
    dialogue.change((names.ROUTES, "a"), body=b"3")
    dialogue.settle()
    assert dialogue.session.lacks is None


def test_of_several_resources_only_the_refused_one_stays_behind() -> None:
    dialogue = started()
    dialogue.change((names.CLUSTER, "b"), (names.CLUSTER, "c"))
    (both,) = dialogue.answers()
    dialogue.accept(both, error="one of them")
    assert dialogue.refused == []
    for response in dialogue.answers():
        (resource,) = response.resources
        dialogue.accept(response, error="bad" if resource.name == "b" else "")
    assert dialogue.refused == [Refusal(names.CLUSTER, ("b",), "bad")]


def test_endpoints_of_a_changed_cluster_are_sent_again() -> None:
    """Envoy warms it up anew."""
    dialogue = started()
    dialogue.change((names.CLUSTER, "a"))
    assert dialogue.settle() == [(names.CLUSTER, ["a"], []), (names.ENDPOINTS, ["a"], [])]


def test_a_cluster_waits_for_the_end_of_its_requests() -> None:
    dialogue = started()
    dialogue.session = Session(dialogue.store, dialogue.refused.append, drains=True)
    for kind in (names.CLUSTER, names.ENDPOINTS, names.SCOPE, names.ROUTES):
        dialogue.ask(kind, *(("a",) if kind in (names.ENDPOINTS, names.ROUTES) else ()))
    dialogue.settle()
    for kind in (names.CLUSTER, names.ENDPOINTS, names.SCOPE, names.ROUTES):
        dialogue.change((kind, "a"), body=None)
    assert dialogue.session.draining == frozenset()
    assert [kind for kind, _, gone in dialogue.settle() if gone] == [names.SCOPE, names.ROUTES]
    assert dialogue.session.draining == {"a"}
    assert dialogue.session.knows("a")
    assert dialogue.session.lacks is None
    dialogue.session.let_go(["a"])
    assert [kind for kind, _, gone in dialogue.settle() if gone] == [
        names.CLUSTER,
        names.ENDPOINTS,
    ]
    assert not dialogue.session.knows("a")
