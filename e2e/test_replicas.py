"""Several replicas on a real API server: one writes at a time, and another one takes over."""

from __future__ import annotations

import itertools
import json
import os
import signal
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from e2e import charts, controllers
from e2e.bed import apiserver, waiting
from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.controllers import Controller
from ingressctl.cluster.leases import Terms
from ingressctl.plan import rights
from tests.apiserver import made

VALUES = {"providers": ["gateway_api"], "write": ["routes", "workloads"], "beside": ""}
FLAGS = (
    "--config-namespace=kserve",
    "--write=routes,workloads",
    "--providers=gateway_api",
    "--settle-seconds=1",
)
CRASH, CLEAN = 20.0, 2.0
"""Seconds until another replica writes: after a crash, and after a clean end."""

WRITES = frozenset({"create", "update", "patch", "delete"})
POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "resources": [{"group": "coordination.k8s.io"}]},
        {"level": "None", "resources": [{"group": "events.k8s.io"}]},
        {
            "level": "Metadata",
            "users": [f"system:serviceaccount:{charts.NAMESPACE}:ingressctl"],
            "verbs": sorted(WRITES),
        },
        {"level": "None"},
    ],
}
TOKEN = "authentication.kubernetes.io/credential-id"
"""Each replica has a token of its own, by which the audit tells them apart."""


@pytest.fixture(scope="module")
def audit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("audit") / "audit.log"


@pytest.fixture(scope="module")
def bed(make_bed: Callable[..., Bed], audit: Path) -> Bed:
    """A bed whose API server keeps an audit of what replicas write."""
    policy = audit.with_name("policy.yaml")
    policy.write_text(yaml.safe_dump(POLICY))
    extra = (f"--audit-policy-file={policy}", f"--audit-log-path={audit}")
    made_bed = make_bed((beds.CRDS, beds.CONTROLLERS), api=apiserver.Settings(extra=extra))
    charts.need_helm()
    charts.make_namespaces(made_bed)
    made_bed.apply(yaml.safe_dump_all([made.config(), made.gateway()]))
    return made_bed


def start(bed: Bed, pod: str) -> Controller:
    return controllers.started(bed, *FLAGS, values=VALUES, pod=pod)


@pytest.fixture(scope="module")
def replicas(bed: Bed) -> list[Controller]:
    """The first one leads. Tests take them out that they end."""
    first = start(bed, "replica-0")
    leader_writes(bed, "zero")
    return [first, start(bed, "replica-1")]


def lease(bed: Bed) -> dict[str, Any]:
    found = bed.kubectl("get", "lease", rights.LEASE, "-n", charts.NAMESPACE, "-o=json")
    return dict(json.loads(found)["spec"])


def holder(bed: Bed) -> str:
    return str(lease(bed).get("holderIdentity") or "")


def written(bed: Bed, name: str) -> bool:
    text = bed.kubectl(
        "get", "deployment", f"{name}-predictor", "-n=team-a", "-o=name", "--ignore-not-found"
    )
    return bool(text.strip())


def leader_writes(bed: Bed, name: str) -> None:
    bed.apply(yaml.safe_dump(made.service(name)))
    waiting.until(f"{name} is written", lambda: written(bed, name), seconds=30)


def takes_over(bed: Bed, leader: Controller, number: signal.Signals, name: str) -> float:
    """Seconds from the end of the leader to the first write of the other one."""
    bed.apply(yaml.safe_dump(made.service(f"{name}-before")))
    began = time.monotonic()
    os.kill(leader.pid, number)
    bed.apply(yaml.safe_dump(made.service(name)))
    waiting.until(f"{name} is written", lambda: written(bed, name), seconds=CRASH * 2)
    took = time.monotonic() - began
    leader.stop()
    bed.processes.remove(leader)
    return took


def test_only_one_of_two_writes(bed: Bed, replicas: list[Controller]) -> None:
    first, second = replicas
    leader_writes(bed, "one")
    assert holder(bed) == "replica-0"
    assert first.value("ingressctl_writes_total") > 0
    assert second.value("ingressctl_writes_total") == 0
    assert second.value("leader_election_master_status") == 0


def test_after_a_kill_the_other_one_writes(bed: Bed, replicas: list[Controller]) -> None:
    """Within 20 s, and not before the lease has run out: nobody knows that the first is dead."""
    before = lease(bed)
    took = takes_over(bed, replicas.pop(0), signal.SIGKILL, "two")
    after = lease(bed)
    assert took < CRASH
    assert after["holderIdentity"] == "replica-1"
    assert after["leaseTransitions"] == before["leaseTransitions"] + 1
    acquired, renewed = (
        datetime.fromisoformat(time_) for time_ in (after["acquireTime"], before["renewTime"])
    )
    assert (acquired - renewed).total_seconds() >= Terms().duration - 1


def test_after_a_clean_end_the_other_one_writes_at_once(
    bed: Bed, replicas: list[Controller]
) -> None:
    """Within 2 s of SIGTERM, and the first has ended without a fault."""
    replicas.append(start(bed, "replica-2"))
    assert holder(bed) == "replica-1"
    leader = replicas.pop(0)
    took = takes_over(bed, leader, signal.SIGTERM, "three")
    assert took < CLEAN
    assert holder(bed) == "replica-2"
    told = leader.log.read_text()
    assert '"msg":"ended"' in told
    assert "Traceback" not in told


def test_writes_of_replicas_never_mix(bed: Bed, replicas: list[Controller], audit: Path) -> None:
    """The audit tells one time of writing for each leader, in the order of the lease."""
    assert len(replicas) == 1
    turns = [token for token, _ in itertools.groupby(_writers(audit))]
    assert len(turns) == len(set(turns)) == 3
    assert lease(bed)["leaseTransitions"] == len(turns)


def _writers(audit: Path) -> list[str]:
    """Who wrote, by the time at which the API server got it."""
    records = [json.loads(line) for line in audit.read_text().splitlines()]
    records.sort(key=lambda record: str(record["requestReceivedTimestamp"]))
    assert all(record["verb"] in WRITES for record in records)
    return [record["user"]["extra"][TOKEN][0] for record in records]
