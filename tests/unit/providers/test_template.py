"""Templated gateways: the shipped examples say what the route says, or tell the loss."""

from __future__ import annotations

import pytest

from ingressctl.cli import templates
from ingressctl.core import findings
from ingressctl.core.model import Group, Host, Match, PathMatch, Route
from ingressctl.core.table import Hop, NoRoute, Request
from ingressctl.core.values import replace
from ingressctl.providers.template import provider as template
from ingressctl.providers.template.definition import DefinitionFault, TemplateSet
from ingressctl.providers.template.provider import TemplateProvider
from tests.unit.providers import routes

SHIPPED = {given.folder: template.load(given) for given in templates.shipped()}
MINIMAL = "name: mine\nkinds: [{group: x.io, kind: Thing}]\n"


def messages(provider: TemplateProvider, route: Route) -> list[str]:
    emission = provider.emit((route,), reads=routes.reads())
    return [findings.message(finding) for finding in emission.findings]


def answer(provider: TemplateProvider, host: str, path: str) -> Hop | NoRoute:
    reads = routes.reads(routes.service("iris-predictor"), routes.service("iris-v2-predictor"))
    emission = provider.emit((routes.ROUTE,), reads=reads)
    return provider.read(emission.objects, reads=reads).answer(Request("POST", host, path))


def backends(hop: Hop | NoRoute) -> dict[str, int | None]:
    assert isinstance(hop, Hop)
    return {f"{part.target.name}:{part.port}": part.weight for part in hop.rule.splits}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", SHIPPED)
def test_canary_weights_survive(name: str) -> None:
    hop = answer(SHIPPED[name], "iris-team-a.example.com", "/v1/models/iris:predict")
    assert backends(hop) == {"iris-predictor:80": 80, "iris-v2-predictor:80": 20}
    assert isinstance(hop, Hop)
    assert hop.headers["kserve-isvc-name"] == "iris"


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize(
    ("path", "seen"),
    [
        ("/serving/team-a/iris/v1/models/iris:predict?a=b", "/v1/models/iris:predict?a=b"),
        ("/serving/team-a/iris", "/"),
        ("/serving/team-a/iris/", "/"),
    ],
)
def test_path_prefix_is_cut_off(name: str, path: str, seen: str) -> None:
    hop = answer(SHIPPED[name], "example.com", path)
    assert isinstance(hop, Hop)
    assert hop.path == seen


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("path", ["/serving/team-a/iris-2", "/serving/team-a/irisx/y", "/login"])
def test_neighbours_of_a_path_are_left_alone(name: str, path: str) -> None:
    assert isinstance(answer(SHIPPED[name], "example.com", path), NoRoute)


def test_traefik_routes_explain_by_expression() -> None:
    hop = answer(SHIPPED["traefik"], "iris.other.org", "/v1/models/m:explain")
    assert backends(hop) == {"iris-explainer:80": None}


def test_openshift_tells_that_explain_is_lost() -> None:
    """A path expression cannot be said there; widening it would send predictions astray."""
    assert messages(SHIPPED["openshift"], routes.ROUTE) == [
        "provider openshift cannot express the matches of rule explain"
    ]


def test_openshift_tells_that_an_exact_path_is_lost() -> None:
    """Its paths are prefixes: an exact one would take its neighbours' requests too."""
    exact = (Match(PathMatch("exact", "/v1/models/iris:explain")),)
    rule = replace(routes.EXPLAIN, matches=exact)
    group = replace(routes.ROUTE.groups[0], rules=(rule, routes.PREDICT))
    route = routes.ROUTE.with_groups((group,))
    assert messages(SHIPPED["openshift"], route) == [
        "provider openshift cannot express the matches of rule explain"
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_second_object_is_not_called_like_the_route_of_a_component(name: str) -> None:
    """Route `iris` with a rule `transformer` beside the route `iris-transformer`."""
    first = replace(routes.BELOW, name="first")
    second = replace(routes.PREDICT, name="transformer")
    group = replace(routes.ROUTE.groups[0], rules=(first, second))
    top = routes.ROUTE.with_groups((group,))
    other = replace(top, ref=replace_name("iris-transformer"))
    emission = SHIPPED[name].emit((top, other), reads=routes.reads())
    errors = [item for item in emission.findings if findings.level(item) == "error"]
    assert errors == []
    assert emission.objects


def test_openshift_names_the_port_of_the_pods() -> None:
    reads = routes.reads(routes.service("iris-predictor", target=9000))
    emission = SHIPPED["openshift"].emit((routes.ROUTE,), reads=reads)
    ports = {obj["spec"]["port"]["targetPort"] for obj in emission.objects}
    assert ports == {9000}


def test_traefik_tells_that_timeouts_are_lost() -> None:
    assert "provider traefik cannot express the timeout 30s of rule predict" in messages(
        SHIPPED["traefik"], routes.ROUTE
    )


@pytest.mark.parametrize("name", SHIPPED)
def test_a_private_host_makes_no_object_of_a_public_gateway(name: str) -> None:
    local = replace(routes.GATEWAY[0], reach="local")
    host = Host("iris.team-a.svc.cluster.local", reach="local")
    private = routes.ROUTE.with_groups((Group((host,), (local,), (routes.PREDICT,)),))
    emission = SHIPPED[name].emit((private,), reads=routes.reads())
    assert emission.objects == ()
    assert "in-cluster host iris.team-a.svc.cluster.local" in messages(SHIPPED[name], private)[0]


@pytest.mark.parametrize("name", SHIPPED)
def test_a_long_name_is_cut_to_the_limit_and_stays_unique(name: str) -> None:
    ref = replace_name("m" * 80)
    emission = SHIPPED[name].emit((replace(routes.ROUTE, ref=ref),), reads=routes.reads())
    names = [obj["metadata"]["name"] for obj in emission.objects]
    assert all(len(made) <= 63 for made in names)
    kinds = [(obj["kind"], obj["metadata"]["name"]) for obj in emission.objects]
    assert len(set(kinds)) == len(kinds)


def replace_name(name: str) -> routes.Ref:
    return routes.REF._replace(name=name)


BROKEN = {
    "no yaml": ("a: [", (), r"no YAML"),
    "no mapping": ("- a", (), r"provider\.yaml"),
    "unknown field": (MINIMAL + "colour: red\n", (), r"colour"),
    "unknown capability": (MINIMAL + "capabilities: [magic]\n", (), r"capabilities are .*weights"),
    "no kinds": ("name: mine\nkinds: []\n", (), r"kinds"),
    "no read template": (MINIMAL, (("a.yaml.j2", ""),), r"read\.yaml\.j2 is missing"),
    "nothing to render": (MINIMAL, (("read.yaml.j2", ""),), r"no template beside"),
}


@pytest.mark.parametrize(("text", "files", "pattern"), BROKEN.values(), ids=BROKEN.keys())
def test_broken_definition_is_refused_when_loaded(
    text: str, files: tuple[tuple[str, str], ...], pattern: str
) -> None:
    with pytest.raises(DefinitionFault, match=pattern):
        template.load(TemplateSet("mine", text, files))


THING = "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: a, namespace: team-a}\n"
WRONG = {
    "foreign kind": (THING.replace("Thing", "Secret"), "not among the kinds"),
    "other namespace": (THING.replace("team-a", "kube-system"), "must be in the namespace"),
    "impossible name": (THING.replace("name: a,", "name: A_b,"), "cannot be"),
    "twice": (f"{THING}---\n{THING}", "rendered twice"),
    "no object": ("- a\n", "no object"),
    "no yaml": ("a: [\n", "no YAML"),
}


@pytest.mark.parametrize(("text", "part"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_object_is_one_error_and_nothing_is_emitted(text: str, part: str) -> None:
    given = TemplateSet("mine", MINIMAL, (("a.yaml.j2", text), ("read.yaml.j2", "")))
    emission = template.load(given).emit((routes.ROUTE,), reads=routes.reads())
    errors = [item for item in emission.findings if findings.level(item) == "error"]
    assert emission.objects == ()
    assert len(errors) == 1
    assert part in findings.message(errors[0])
    assert "mine/a.yaml.j2" in findings.message(errors[0])
