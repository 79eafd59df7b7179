"""Files over a base: what stays, what changes, and why."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ingressctl.api.refs import Raw, Ref, ref_of
from ingressctl.cli import plugins
from ingressctl.core.differences import Compat
from ingressctl.core.outcome import Origin
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import cascade, diff, folders, manifests, overlay, preview, trials
from ingressctl.plan.manifests import Document
from tests import worlds

INPUTS = Path(__file__).parents[2] / "cli" / "inputs"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
PROVIDERS = plugins.providers()
MODEL = Ref("serving.kserve.io", "InferenceService", "team-a", "churn")


def read(name: str) -> list[Document]:
    return list(manifests.parse((INPUTS / name).read_bytes(), name).documents)


def base(*more: str) -> World:
    names = ("base/config.yaml", *more)
    world = World.of(item.obj for name in names for item in read(name))
    return folders.complete(world, Settings(), now=NOW, providers=PROVIDERS, written=_all(more))


def _all(names: Iterable[str]) -> list[Raw]:
    return [item.obj for name in names for item in read(name)]


def show(world: World, documents: list[Document], compat: str = "better") -> preview.Preview:
    laid = overlay.lay(world, documents, namespace="default", named=False)
    settings = Settings(compat=Compat.parse(compat), fresh=laid.fresh)
    return preview.preview(laid, settings, now=NOW, providers=PROVIDERS)


def edited(document: Document, **spec: Any) -> Document:
    return Document({**document.obj, "spec": {**document.obj["spec"], **spec}}, document.origin)


def test_a_new_model_creates_its_routes_and_no_workloads() -> None:
    seen = show(base(), read("model.yaml"))
    assert [(change.action, change.ref.kind) for change in seen.changes()] == [
        ("created", "InferenceService"),
        ("created", "HTTPRoute"),
        ("created", "HTTPRoute"),
    ]


def test_a_raised_canary_changes_the_weights_and_nothing_else() -> None:
    (model,) = read("model.yaml")
    canary = [{**model.obj["spec"]["canary"][0], "trafficPercent": 25}]
    seen = show(base("model.yaml"), [edited(model, canary=canary)])
    routes = [change for change in seen.changes() if change.ref.kind == "HTTPRoute"]
    for change in routes:
        assert {(field.old, field.new) for field in diff.fields(change.before, change.after)} == {
            (90, 75),
            (10, 25),
        }
    assert len(routes) == 2
    assert seen.by_difference() == {}


def test_bookkeeping_of_the_base_stays_and_the_file_speaks_for_the_rest() -> None:
    """ux.md 8.2."""
    (model,) = read("model.yaml")
    held = {
        **model.obj,
        "metadata": {
            **model.obj["metadata"],
            "uid": "u-1",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "ownerReferences": [{"kind": "App", "name": "a"}],
            "labels": {"old": "label"},
            "annotations": {"old": "annotation"},
        },
        "status": {"url": "http://x"},
    }
    merged = overlay.over(held, model.obj)
    assert merged["metadata"]["uid"] == "u-1"
    assert merged["metadata"]["ownerReferences"] == [{"kind": "App", "name": "a"}]
    assert merged["metadata"]["labels"] == {"team": "crm"}
    assert "old" not in merged["metadata"]["annotations"]
    assert merged["status"] == {"url": "http://x"}
    assert overlay.over(held, {**model.obj, "status": {"url": "http://y"}})["status"] == {
        "url": "http://y"
    }


def test_a_configuration_moves_the_routes_of_services_that_nobody_wrote() -> None:
    """They stand below the ConfigMap that moves them."""
    (model,) = read("model.yaml")
    world = folders.complete(
        World.of([item.obj for item in read("base/config.yaml")] + [model.obj]),
        Settings(),
        now=NOW,
        providers=PROVIDERS,
        written=[model.obj],
    )
    texts = ["inferenceservice-config.ingress.ingressDomain=x.org"]
    (section,) = show(world, list(trials.documents(texts, world, Settings()))).sections
    assert section.ref.kind == "ConfigMap"
    assert section.origin == Origin("--set")
    assert [moved.ref for moved in section.moved] == [MODEL]
    hosts = [change.after["spec"]["hostnames"] for change in section.moved[0].made if change.after]
    assert hosts == [["churn-team-a.x.org"], ["churn-predictor-team-a.x.org"]]


def test_order_of_input_and_base_changes_nothing() -> None:
    """Same result byte for byte."""
    documents = read("model.yaml")
    objects = list(base("model.yaml"))
    canary = [{**documents[0].obj["spec"]["canary"][0], "trafficPercent": 1}]
    written = [edited(documents[0], canary=canary)]
    first = [list(diff.unified(change)) for change in show(World.of(objects), written).changes()]
    random.Random(1).shuffle(objects)
    again = [list(diff.unified(change)) for change in show(World.of(objects), written).changes()]
    assert first == again


def test_a_difference_is_named_only_for_what_it_causes() -> None:
    """Under better a stale host goes (Q4); the raised canary beside it has no id."""
    (model,) = read("model.yaml")
    world = base("model.yaml")
    held: list[Raw] = []
    for obj in world:
        if obj["kind"] == "HTTPRoute" and obj["metadata"]["name"] == "churn":
            names = [*obj["spec"]["hostnames"], "retired.example.com"]
            held.append({**obj, "spec": {**obj["spec"], "hostnames": names}})
    canary = [{**model.obj["spec"]["canary"][0], "trafficPercent": 25}]
    world = world.overlay(held)
    seen = show(world, [model])
    assert [(change.ref.name, change.differences) for change in seen.changes()] == [
        ("churn", ("Q4",))
    ]
    assert list(show(world, [model], "kserve").changes()) == []
    both = show(world, [edited(model, canary=canary)])
    ids = {change.ref.name: change.differences for change in both.changes()}
    assert ids["churn-predictor"] == ()


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("compat", ["kserve", "better"])
def test_what_is_assumed_ready_needs_no_second_look(seed: int, compat: str) -> None:
    """The cascade leaves it out; with every pass made in full the world is the same."""
    objects = [_bare(obj) for obj in worlds.make(seed, graphs=True).objects]
    world = World.of(objects)
    fresh = frozenset(ref_of(obj) for obj in world if not overlay.is_held(obj))
    settings = Settings(compat=Compat.parse(compat), fresh=fresh)
    short = cascade.run(world, settings, now=NOW, providers=PROVIDERS).world
    steps: dict[Ref, cascade.Step] = {}
    for _ in range(cascade.MAX_PASSES):
        world = cascade.one_pass(
            world, settings, now=NOW, sources=cascade.SOURCES, steps=steps, providers=PROVIDERS
        )
    assert {ref_of(obj): obj for obj in short} == {ref_of(obj): obj for obj in world}


def _bare(obj: Raw) -> Raw:
    if obj["kind"] != "InferenceService":
        return obj
    metadata = {key: value for key, value in obj["metadata"].items() if key != "uid"}
    return {**{key: obj[key] for key in obj if key != "status"}, "metadata": metadata}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "is not CONFIGMAP"),
        ("other.data.x=1", "not one that routes follow from"),
        ("ingress.provider=x", "write inferenceservice-config.ingress.provider"),
        ("inferenceservice-config.ingress=1", "data.ingress"),
        ("config-domain.x.y=1", "does not hold a JSON object"),
    ],
)
def test_a_set_that_cannot_be_is_told(text: str, says: str) -> None:
    held = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "config-domain", "namespace": "knative-serving"},
        "data": {"x": "not json"},
    }
    with pytest.raises(trials.TrialFault, match=says):
        trials.documents([text], World.of([held]), Settings())


def test_keys_with_dots_and_typed_values_can_be_set() -> None:
    texts = [
        "config-domain.data.models.example.org=",
        "inferenceservice-config.ingress.enableGatewayApi=false",
        "inferenceservice-config.ingress.ingressDomain=3.example",
    ]
    made = {
        item.obj["metadata"]["name"]: item.obj
        for item in trials.documents(texts, base(), Settings())
    }
    assert made["config-domain"]["data"] == {"models.example.org": ""}
    ingress = made["inferenceservice-config"]["data"]["ingress"]
    assert '"enableGatewayApi": false' in ingress
    assert '"ingressDomain": "3.example"' in ingress


@pytest.mark.parametrize("setting", ["urlScheme=http", "ingressClassName=istio"])
def test_a_setting_without_config_map_leaves_the_other_shipped_values(setting: str) -> None:
    """One that says what is shipped moves no route."""
    (model,) = read("model.yaml")
    plain = show(World({}), [model])
    made = trials.documents([f"inferenceservice-config.ingress.{setting}"], World({}), Settings())
    tried = show(World({}), [model, *made])
    routes = [{change.ref: change.after for change in seen.changes()} for seen in (plain, tried)]
    assert routes[1].pop(ref_of(made[0].obj))
    assert routes[0] == routes[1]


def test_an_unknown_field_is_told_where_it_was_written() -> None:
    """Admission moves `sklearn` to `model`; the person wrote the former."""
    (document,) = read("model.yaml")[:1]
    misspelt = edited(document, predictor={"sklearn": {"storageURI": "s3://m"}})
    paths = [item.path for item in show(base(), [misspelt]).findings if item.code == "IC1120"]
    assert paths == ["spec.predictor.sklearn.storageURI"]
