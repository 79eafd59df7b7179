"""Bad input while it runs: what cannot be read is told and left, and the others go on."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from ingressctl.api import selectors
from ingressctl.cluster.controller import Options
from tests.apiserver import made, robots
from tests.apiserver.replica import eventually, plan, quiet, running_replica
from tests.apiserver.server import ApiServer

ODD: dict[str, Any] = {
    "wrong type": {"predictor": {"containers": "none"}},
    "wrong type below": {"predictor": {"minReplicas": "many", "containers": [{"name": 7}]}},
    "no predictor": {"predictor": None},
    "nothing": {},
    "a list": [],
    "foreign fields": {
        "predictor": {"containers": [{"name": "kserve-container", "x": {}}]},
        "y": 1,
    },
}


def odd(name: str, spec: Any) -> dict[str, Any]:
    return {**made.service(name), "spec": spec}


def hosts(server: ApiServer, name: str) -> list[str]:
    route = server.get("HTTPRoute", name)
    return route["spec"]["hostnames"] if route else []


def messages(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records]


def reasons(server: ApiServer) -> list[str]:
    return [event["reason"] for event in server.objects.select(("events.k8s.io", "events"), "")]


async def test_odd_services_do_not_stop_the_others(
    server: ApiServer, kubeconfig: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each is told of, none is taken for a defect, and nothing runs hot."""
    caplog.set_level(logging.INFO, logger="ingressctl")
    for number, spec in enumerate(ODD.values()):
        server.put(odd(f"odd-{number}", spec))
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("iris", lambda: hosts(server, "iris"))
        work = await quiet(lambda: server.work)
        server.put(made.service("rose"))
        await eventually("rose", lambda: hosts(server, "rose"))
        assert await quiet(lambda: server.work) - work < 40
    assert not [text for text in messages(caplog) if "at fault" in text]


async def test_odd_objects_of_others_are_left_out(
    server: ApiServer, kubeconfig: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, logger="ingressctl")
    route = {
        "apiVersion": "gateway.networking.k8s.io/v1",
        "kind": "HTTPRoute",
        "metadata": {"name": "odd", "namespace": "team-a"},
        "spec": {"rules": "none", "hostnames": 7},
    }
    server.put(route, made.service("iris"))
    async with running_replica(kubeconfig):
        await eventually("deployment", lambda: server.get("Deployment", "iris-predictor"))
    told = [record for record in caplog.records if record.getMessage() == "object left out"]
    assert [record.keys["name"] for record in told] == ["odd"]


async def test_a_broken_configuration_leaves_the_last_good_one_in_force(
    server: ApiServer, kubeconfig: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """By log and event; new services are made by the good one, and a mended one counts."""
    caplog.set_level(logging.INFO, logger="ingressctl")
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("iris", lambda: hosts(server, "iris"))
        broken = made.config()
        broken["data"]["ingress"] = "{not json"
        server.put(broken)
        await eventually("event", lambda: "ConfigurationRefused" in reasons(server))
        server.put(made.service("rose"))
        await eventually("rose", lambda: hosts(server, "rose") == ["rose-team-a.example.com"])
        server.delete("ConfigMap", "inferenceservice-config", "kserve")
        server.put(made.service("lily"))
        await eventually("lily", lambda: hosts(server, "lily") == ["lily-team-a.example.com"])
        assert hosts(server, "iris") == ["iris-team-a.example.com"]
        server.put(made.config(ingressDomain="example.org"))
        await eventually("mended", lambda: hosts(server, "iris") == ["iris-team-a.example.org"])
    told = messages(caplog)
    assert told.count("configuration refused, the last good one stays in force") == 1
    assert told.count("configuration deleted, the last one stays in force") == 1
    assert told.count("configuration in force") == 1


async def test_a_provider_that_is_not_followed_is_told_and_routes_stay(
    server: ApiServer, kubeconfig: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Somebody switches the Gateway API off under a controller that follows nothing else."""
    async with robots.at_work(server), running_replica(kubeconfig):
        server.put(made.service("iris"))
        await eventually("iris", lambda: hosts(server, "iris"))
        server.put(made.config(enableGatewayApi=False))
        await eventually("event", lambda: "ReconcileFailed" in reasons(server))
        assert hosts(server, "iris") == ["iris-team-a.example.com"]
        server.put(made.config(ingressDomain="example.org"))
        await eventually("mended", lambda: hosts(server, "iris") == ["iris-team-a.example.org"])
    told = [event["note"] for event in server.objects.select(("events.k8s.io", "events"), "")]
    assert any("provider ingress, and gateway_api is followed" in note for note in told)
    assert not [record for record in caplog.records if "please report" in record.getMessage()]


async def test_a_template_that_fails_for_one_service_only(
    server: ApiServer, kubeconfig: Path
) -> None:
    """It is told at that service; the others get their routes."""
    failing = '{{ if eq .Name "bad" }}{{ slice .Name 9 }}{{ end }}'
    template = f"{failing}{{{{ .Name }}}}.{{{{ .IngressDomain }}}}"
    server.put(made.config(domainTemplate=template))
    server.put(made.service("bad"), made.service("iris"), made.service("rose"))
    async with robots.at_work(server), running_replica(kubeconfig):
        for name in ("iris", "rose"):
            await eventually(name, lambda name=name: hosts(server, name) == [f"{name}.example.com"])
        await eventually("workload", lambda: server.get("Deployment", "bad-predictor"))
        await quiet(lambda: server.work)
        assert hosts(server, "bad") == []
        texts = json.dumps(server.objects.select(("events.k8s.io", "events"), "team-a"))
        assert "slice" in texts or "ReconcileFailed" in texts


async def test_a_selector_chooses_services(server: ApiServer, kubeconfig: Path) -> None:
    """Others are not touched; one that gets the label is taken up."""
    given = plan(options=Options(settle=0.0, selector=selectors.parse("team in (a,b)")))
    server.put(made.service("mine", labels={"team": "a"}), made.service("other"))
    async with running_replica(kubeconfig, given):
        await eventually("mine", lambda: server.get("Deployment", "mine-predictor"))
        await quiet(lambda: server.work)
        assert server.get("Deployment", "other-predictor") is None
        assert "status" not in (server.get("InferenceService", "other") or {})
        server.patch("InferenceService", "other", {"metadata": {"labels": {"team": "a"}}})
        await eventually("other", lambda: server.get("Deployment", "other-predictor"))


async def test_within_namespaces_nothing_outside_is_asked_for(
    server: ApiServer, kubeconfig: Path
) -> None:
    """But for the configuration, and kinds without a namespace where they may be read."""
    given = plan(namespaces=("team-a",), cluster_scoped=False)
    server.put(made.service("iris"), made.service("rose", "team-b"))
    async with running_replica(kubeconfig, given):
        await eventually("iris", lambda: server.get("Deployment", "iris-predictor"))
        await quiet(lambda: server.work)
    assert server.get("Deployment", "rose-predictor", "team-b") is None
    assert server.counts["list", "namespaces"] == 0
    assert server.places == {"team-a", "kserve"}


async def test_a_missing_right_is_told_once_and_mended_without_a_restart(
    server: ApiServer, kubeconfig: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """While routes cannot be listed nothing is pruned; with the right all goes on."""
    caplog.set_level(logging.INFO, logger="ingressctl")
    server.forbidden.add(("list", "httproutes"))
    server.put(made.service("iris"))
    async with robots.at_work(server), running_replica(kubeconfig):
        await eventually("deployment", lambda: server.get("Deployment", "iris-predictor"))
        await quiet(lambda: len(server.written))
        assert server.counts["delete", "httproutes"] == 0
        told = messages(caplog).count("may not be listed: grant get, list and watch")
        server.forbidden.clear()
        await eventually("route", lambda: hosts(server, "iris"))
    assert told == 1
