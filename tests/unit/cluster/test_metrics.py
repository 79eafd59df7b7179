"""What a scrape gets has the names that dashboards know, and every one of them is kept up."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import aiohttp
import pytest
from prometheus_client.parser import text_string_to_metric_families

from ingressctl.api.refs import Ref
from ingressctl.cluster import logs
from ingressctl.cluster.metrics import Metrics
from ingressctl.cluster.probes import PortTaken, Probes
from ingressctl.core.outcome import Finding
from tests.apiserver import made, robots
from tests.apiserver.replica import eventually, plan, running_replica
from tests.apiserver.server import ApiServer

PROMISED = """
controller_runtime_reconcile_total{controller,result}
controller_runtime_reconcile_errors_total{controller}
controller_runtime_reconcile_time_seconds_count{controller}
controller_runtime_max_concurrent_reconciles{controller}
controller_runtime_active_workers{controller}
workqueue_depth{name}
workqueue_adds_total{name}
workqueue_retries_total{name}
workqueue_queue_duration_seconds_count{name}
workqueue_work_duration_seconds_count{name}
rest_client_requests_total{code,host,method}
leader_election_master_status{name}
ingressctl_route_weight{namespace,route,target}
ingressctl_route_ready{namespace,route}
ingressctl_provider_emit_seconds_count{provider}
""".split()


async def scrape(port: int, path: str = "/metrics") -> tuple[int, str]:
    url = f"http://127.0.0.1:{port}{path}"
    async with aiohttp.ClientSession() as session, session.get(url) as answer:
        return answer.status, await answer.text()


def samples(text: str) -> dict[str, float]:
    """``name{labels}`` and the sum of the values."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            name = f"{sample.name}{{{','.join(sorted(sample.labels))}}}"
            found[name] = found.get(name, 0.0) + sample.value
    return found


async def test_every_promised_name_is_kept_up(
    server: ApiServer, kubeconfig: Path, unused_tcp_port: int
) -> None:
    """After a service became ready, and one write was refused, none is missing or nothing."""
    server.forbidden.add(("patch", "httproutes"))
    given = plan(metrics_port=unused_tcp_port)
    async with robots.at_work(server), running_replica(kubeconfig, given):
        server.put(made.service("iris"))
        await eventually("refused", lambda: server.refused("patch", "httproutes"))
        server.forbidden.clear()
        await eventually("route", lambda: server.get("HTTPRoute", "iris"))
        found = samples((await scrape(unused_tcp_port))[1])
    assert set(PROMISED) <= found.keys()
    idle = {"workqueue_depth{name}", "controller_runtime_active_workers{controller}"}
    idle |= {"controller_runtime_reconcile_errors_total{controller}"}
    idle |= {"ingressctl_route_ready{namespace,route}"}
    assert [name for name in PROMISED if not found[name] and name not in idle] == []


async def test_findings_are_counted_by_code_and_forgotten_with_their_object() -> None:
    metrics = Metrics()
    ref = Ref("g", "Kind", "ns", "x")
    found = Finding.of("IC7101", ref, object="x")
    metrics.routes.note(ref, (), False, (found, found))
    metrics.routes.note(ref._replace(name="y"), (), True, (found,))
    text = metrics.text().decode()
    assert 'ingressctl_findings{code="IC7101",level="' in text
    assert samples(text)["ingressctl_findings{code,level}"] == 3.0
    metrics.routes.forget(ref)
    assert samples(metrics.text().decode())["ingressctl_findings{code,level}"] == 1.0


async def test_ready_says_why_it_is_not(unused_tcp_port_factory: object) -> None:
    health, scraped = (unused_tcp_port_factory() for _ in range(2))  # type: ignore[operator]
    reasons = ["the first lists are not complete"]
    probes = Probes(Metrics(), lambda: reasons)
    await probes.start(health_port=health, metrics_port=scraped)
    try:
        assert await scrape(health, "/healthz") == (200, "ok\n")
        assert await scrape(health, "/readyz") == (503, f"{reasons[0]}\n")
        reasons.clear()
        assert await scrape(health, "/readyz") == (200, "ok\n")
        assert (await scrape(scraped))[0] == 200
        with pytest.raises(PortTaken, match=str(health)):
            await Probes(Metrics(), lambda: ()).start(health_port=health, metrics_port=0)
    finally:
        await probes.stop()


@pytest.fixture
def restored() -> object:
    """The project's logger as it was: other tests listen to it."""
    root = logging.getLogger("ingressctl")
    before = (root.handlers[:], root.propagate, root.level)
    yield
    root.handlers[:], root.propagate = before[0], before[1]
    root.setLevel(before[2])


def test_a_line_is_one_object_with_its_keys(
    capsys: pytest.CaptureFixture[str], restored: object
) -> None:
    logs.configure("json", "info")
    log = logging.getLogger("ingressctl.test")
    log.debug("too little")
    log.info("found %s", "it", extra={"keys": {"name": "a\nb", "odd": Path("x")}})
    log.error("failed", exc_info=ValueError("why"))
    first, second = (json.loads(line) for line in capsys.readouterr().err.splitlines())
    assert (first["msg"], first["level"], first["name"]) == ("found it", "info", "a\nb")
    assert first["odd"] == "x"
    assert "ValueError: why" in second["trace"]
    assert first["ts"].endswith("Z")


def test_a_line_for_a_terminal_is_one_line(
    capsys: pytest.CaptureFixture[str], restored: object
) -> None:
    logs.configure("text", "debug")
    keys = {"name": "x", "text": "two words", "apply": ["a"], "none": ""}
    logging.getLogger("ingressctl.test").debug("told", extra={"keys": keys})
    line = capsys.readouterr().err.strip()
    assert line.endswith('told name=x text="two words" apply="[\\"a\\"]" none=""')
    assert "DEBUG" in line
