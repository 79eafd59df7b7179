"""What Envoys keep of an earlier process: tables of hosts whose owners' routes are not known."""

from __future__ import annotations

from ingressctl.api.refs import Ref
from ingressctl.core.model import External, Service
from ingressctl.core.outcome import Keep
from ingressctl.providers.envoy import names
from ingressctl.proxy.inheritance import Inheritance

ONE, OTHER = (Ref("serving.kserve.io", "InferenceService", "ns", name) for name in ("one", "other"))
UNKNOWN, IN_PART, HIDDEN = Keep(everything=True), Keep(names=frozenset({"one"})), Keep(hidden=True)


def tables(inheritance: Inheritance) -> set[str]:
    """Of those that there may be; a table is left together with its scope."""
    possible = [f"{listener}/{host}" for listener in ("public", "local") for host in "abc"]
    found = {name for name in possible if (names.ROUTES, name) in inheritance}
    assert found == {name for name in possible if (names.SCOPE, name) in inheritance}
    return found


def test_the_hosts_of_whoever_is_not_known_are_left_until_it_is() -> None:
    for keep in (UNKNOWN, IN_PART):
        made = Inheritance()
        made.note(ONE, keep, ["a"])
        assert tables(made) == {"public/a", "local/a"}
        assert not made.has_ended
        made.note(ONE, Keep(), [])
        assert not tables(made)
        assert {name for _, name in made.ended()} == {"public/a", "local/a"}
        assert not made.has_ended
        made.note(ONE, keep, ["a"])
        assert not tables(made)


def test_what_two_owners_had_is_let_go_of_after_the_second() -> None:
    made = Inheritance()
    made.note(ONE, UNKNOWN, ["a", "b"])
    made.note(OTHER, UNKNOWN, ["b"])
    made.gone(ONE)
    assert tables(made) == {"public/b", "local/b"}
    assert {name for _, name in made.ended()} == {"public/a", "local/a"}
    made.gone(OTHER)
    assert {name for _, name in made.ended()} == {"public/b", "local/b"}


def test_what_is_left_again_in_one_go_is_not_let_go_of() -> None:
    made = Inheritance()
    made.note(ONE, UNKNOWN, ["a"])
    made.note(ONE, IN_PART, ["a"])
    assert not made.has_ended


def test_nothing_public_is_left_for_whoever_asks_to_be_hidden() -> None:
    made = Inheritance()
    made.note(ONE, Keep(everything=True, hidden=True), ["a"])
    assert tables(made) == {"local/a"}
    made.note(OTHER, UNKNOWN, ["b"])
    assert tables(made) == {"local/a", "local/b", "public/b"}
    made.note(ONE, HIDDEN, ["b"])
    assert tables(made) == {"local/b"}


def test_a_table_that_was_made_here_is_never_left() -> None:
    made = Inheritance()
    made.note(ONE, UNKNOWN, ["a"])
    made.made("public/a")
    assert tables(made) == {"local/a"}


def test_left_tables_lead_to_services_of_their_namespaces_and_outside() -> None:
    near, far, outside = Service("ns", "x"), Service("elsewhere", "x"), External("gw.example.com")
    made = Inheritance()
    targets = (near, far, outside)
    assert not any(map(made.may_lead_to, targets))
    made.note(ONE, UNKNOWN, ["a"])
    made.note(OTHER, UNKNOWN, ["b"])
    assert list(filter(made.may_lead_to, targets)) == [near, outside]
    made.gone(ONE)
    assert not made.of(ONE)
    assert list(filter(made.may_lead_to, targets)) == [near, outside]
    made.note(OTHER, Keep(), [])
    assert not any(map(made.may_lead_to, targets))


def test_whoever_has_no_host_leaves_nothing() -> None:
    made = Inheritance()
    made.note(ONE, UNKNOWN, [])
    assert not made
    assert not made.of(ONE)
