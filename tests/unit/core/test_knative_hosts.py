"""Host names of Knative Routes (spec/knative-routing.md 6.5)."""

from __future__ import annotations

import pytest

from ingressctl.api.configmaps import ConfigFault
from ingressctl.core import knative_hosts, naming
from ingressctl.core.settings import Settings
from ingressctl.core.world import Reads, World


def reads(domains: dict[str, str] | None = None, network: dict[str, str] | None = None) -> Reads:
    maps = {"config-domain": domains, "config-network": network}
    objects = [
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": "knative-serving"},
            "data": data,
        }
        for name, data in maps.items()
        if data is not None
    ]
    return Reads(World.of(objects), Settings(), providers={})


def host(reads: Reads, labels: dict[str, str] | None = None, tag: str = "") -> str:
    return knative_hosts.route_host(
        "iris-predictor", "team-a", labels=labels or {}, annotations={}, reads=reads, tag=tag
    )


def test_without_a_default_domain_everything_is_internal() -> None:
    assert host(reads({})) == "iris-predictor.team-a.svc.cluster.local"
    only_selected = reads({"x.org": "selector: {app: web}"})
    assert host(only_selected) == "iris-predictor.team-a.svc.cluster.local"
    assert knative_hosts.is_local({}, reads=only_selected)


def test_without_any_config_domain_the_domain_is_that_of_kserves_defaults() -> None:
    """Files without Knative's ConfigMaps still render a public host."""
    assert host(reads()) == "iris-predictor.team-a.example.com"
    assert not knative_hosts.is_local({}, reads=reads())


def test_most_labels_win_then_the_smaller_name() -> None:
    world = reads(
        {
            "z.org": "",
            "one.org": "selector:\n  app: web",
            "two.org": "selector:\n  app: web\n  tier: gold",
            "also.org": "selector:\n  app: web",
            "_example": "whatever: [",
        }
    )
    assert host(world) == "iris-predictor.team-a.z.org"
    assert host(world, {"app": "web"}) == "iris-predictor.team-a.also.org"
    assert host(world, {"app": "web", "tier": "gold"}) == "iris-predictor.team-a.two.org"


def test_cluster_local_label_uses_the_default_template() -> None:
    world = reads({"x.org": ""}, {"domain-template": "{{.Name}}-{{.Namespace}}.{{.Domain}}"})
    assert host(world) == "iris-predictor-team-a.x.org"
    local = {knative_hosts.VISIBILITY: "cluster-local"}
    assert host(world, local) == "iris-predictor.team-a.svc.cluster.local"
    assert knative_hosts.scheme(local, reads=world) == "http"


def test_tags_by_template() -> None:
    assert host(reads({"x.org": ""}), tag="prev") == "prev-iris-predictor.team-a.x.org"
    other = reads({"x.org": ""}, {"tag-template": "{{.Name}}--{{.Tag}}"})
    assert host(other, tag="prev") == "iris-predictor--prev.team-a.x.org"
    assert knative_hosts.local_hosts("m", "ns", reads=other, tag="a") == (
        "m--a.ns.svc.cluster.local",
        "m--a.ns.svc",
        "m--a.ns",
    )


def test_legacy_spelling_of_the_network_map() -> None:
    assert host(reads({"x.org": ""}, {"domainTemplate": "{{.Name}}.{{.Domain}}"})) == (
        "iris-predictor.x.org"
    )
    assert knative_hosts.scheme({}, reads=reads({"x.org": ""}, {"autoTLS": "Enabled"})) == "https"


def test_faults_name_what_is_wrong() -> None:
    with pytest.raises(naming.NameFault, match="domain-template"):
        host(reads({"x.org": ""}, {"domain-template": "{{.Nmae}}.{{.Domain}}"}))
    with pytest.raises(naming.NameFault, match="63"):
        host(reads({"x.org": ""}), tag="t" * 60)
    with pytest.raises(ConfigFault, match=r"x\.org"):
        host(reads({"x.org": "selector: [a]"}))
