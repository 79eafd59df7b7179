"""`wait` follows a cluster by watching it, ends early where patience does not help."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.fakeapi import CUT, HOLD, FakeApi
from tests.cli.running import Done, run
from tests.unit.plan import chains
from tests.unit.plan.chains import held, ready

INPUTS = Path(__file__).parent / "inputs"


def wait(api: FakeApi, tmp_path: Path, *words: str, timeout: str = "30s") -> Done:
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    return run("wait", *words, "--kubeconfig", config, "--timeout", timeout)


def starting() -> list[dict[str, Any]]:
    """A service whose stable Deployment is on its way, everything else at hand."""
    isvc = chains.service(**ready("Unknown", "Starting"))
    deployments = [
        held("apps/v1", "Deployment", name, owner=isvc,
             status=ready(state, "Slow", kind="Available"))
        for name, state in (("m-predictor", "Unknown"), ("m-two-predictor", "True"))
    ]  # fmt: skip
    return [isvc, *deployments, chains.RUNTIME]


def event(obj: dict[str, Any], kind: str = "MODIFIED", version: str = "101") -> dict[str, Any]:
    metadata = {**obj["metadata"], "resourceVersion": version}
    return {"type": kind, "object": {**obj, "metadata": metadata}}


def watches(api: FakeApi, plural: str) -> list[str]:
    return [path for _, path, _ in api.seen if f"/{plural}?" in path and "watch=true" in path]


READY = chains.service(**ready("True"))


def test_a_service_that_becomes_ready_ends_with_0(api: FakeApi, tmp_path: Path) -> None:
    api.objects += starting()
    api.streams["inferenceservices"] = [[event(READY), HOLD]]
    done = wait(api, tmp_path, "isvc/m")
    assert (done.code, done.out) == (
        0,
        "inferenceservice.serving.kserve.io/m condition met\n",
    )
    lines = [line for line in done.err.splitlines() if re.match(r" *\d+\.\ds ", line)]
    assert len(lines) == 1
    assert lines[0].endswith("Deployment a/m-predictor: Slow")
    assert {method for method, _, _ in api.seen} == {"GET"}
    (asked,) = watches(api, "inferenceservices")
    assert asked.startswith("/apis/serving.kserve.io/v1beta1/namespaces/a/")
    assert "resourceVersion=100" in asked
    assert "allowWatchBookmarks=true" in asked


def test_one_that_is_ready_is_not_followed(api: FakeApi, tmp_path: Path) -> None:
    api.objects += [READY, chains.RUNTIME]
    assert wait(api, tmp_path, "isvc/m").code == 0
    assert not [path for _, path, _ in api.seen if "watch" in path]


def test_time_that_is_up_is_3_and_tells_the_first_cause(api: FakeApi, tmp_path: Path) -> None:
    api.objects += starting()
    done = wait(api, tmp_path, "isvc/m", timeout="700ms")
    assert (done.code, done.out) == (3, "")
    assert re.search(r"error: InferenceService a/m is not ready after \d+s: Deployment", done.err)


def test_zero_looks_once(api: FakeApi, tmp_path: Path) -> None:
    api.objects += starting()
    assert wait(api, tmp_path, "isvc/m", timeout="0").code == 3
    assert not [path for _, path, _ in api.seen if "watch" in path]


def test_repeats_of_a_reason_are_one_mark(api: FakeApi, tmp_path: Path) -> None:
    """Reasons that change are lines of their own."""
    objects = starting()
    api.objects += objects
    slow = objects[1]
    other = {**slow, "status": ready("Unknown", "Slower", kind="Available")}
    api.streams["deployments"] = [
        [event(slow), event(slow, version="102"), HOLD],
    ]
    done = wait(api, tmp_path, "isvc/m", timeout="900ms")
    assert done.err.count("Deployment a/m-predictor: Slow\n") == 2  # once waiting, once at the end
    assert done.err.count(" ...\n") == 1
    api.streams["deployments"] = [[event(other), HOLD]]
    done = wait(api, tmp_path, "isvc/m", timeout="900ms")
    assert "s Deployment a/m-predictor: Slower\n" in done.err


@pytest.mark.parametrize(
    "first",
    [
        pytest.param([410], id="the place is forgotten at once"),
        pytest.param(
            [{"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "old"}}],
            id="the place is forgotten in the stream",
        ),
        pytest.param([429], id="too many requests"),
        pytest.param([503], id="the server starts"),
        pytest.param([CUT], id="the stream is cut"),
        pytest.param([], id="the stream ends"),
    ],
)
def test_a_watch_that_breaks_is_taken_up_again(
    first: list[Any], api: FakeApi, tmp_path: Path
) -> None:
    api.objects += starting()
    api.streams["inferenceservices"] = [first, [event(READY), HOLD]]
    assert wait(api, tmp_path, "isvc/m").code == 0
    assert len(watches(api, "inferenceservices")) == 2


def test_what_a_forgotten_place_hid_is_listed(api: FakeApi, tmp_path: Path) -> None:
    """Between the two watches the service became ready, and no event says so."""
    api.objects += starting()
    gone = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "old"}}
    api.streams["inferenceservices"] = [[event(READY, "QUIETLY"), gone], [HOLD]]
    api.objects = [obj for obj in api.objects if obj["kind"] != "InferenceService"]
    api.objects.append(starting()[0])

    real = api.store

    def store(sent: dict[str, Any]) -> None:
        real({**sent, "type": "MODIFIED"} if sent["type"] == "QUIETLY" else sent)

    api.store = store  # type: ignore[method-assign]
    assert wait(api, tmp_path, "isvc/m").code == 0


def test_a_bookmark_is_where_the_next_watch_begins(api: FakeApi, tmp_path: Path) -> None:
    api.objects += starting()
    mark = {"type": "BOOKMARK", "object": {"kind": "InferenceService", "metadata": {
        "resourceVersion": "555"}}}  # fmt: skip
    api.streams["inferenceservices"] = [[mark], [event(READY), HOLD]]
    assert wait(api, tmp_path, "isvc/m").code == 0
    assert "resourceVersion=555" in watches(api, "inferenceservices")[1]


def test_who_may_not_watch_is_told_and_lists(api: FakeApi, tmp_path: Path) -> None:
    objects = starting()
    api.objects += objects
    api.groups = (*api.groups, "networking.k8s.io")
    api.streams["inferenceservices"] = [[403]]
    api.streams["deployments"] = [[event({**objects[1], "status": ready("True", kind="Available")}),
                                   event(READY), HOLD]]  # fmt: skip
    done = wait(api, tmp_path, "isvc/m")
    assert done.code == 0
    assert (
        "inferenceservices.serving.kserve.io may not be watched in namespace a, listed every few "
        "seconds instead" in done.err
    )


def test_an_object_that_is_deleted_ends_the_wait(api: FakeApi, tmp_path: Path) -> None:
    objects = starting()
    api.objects += objects
    api.streams["inferenceservices"] = [[event(objects[0], "DELETED"), HOLD]]
    done = wait(api, tmp_path, "isvc/m")
    assert done.code == 3
    assert "will not become ready: it was deleted" in done.err


def test_a_deployment_that_gave_up_ends_the_wait(api: FakeApi, tmp_path: Path) -> None:
    objects = starting()
    api.objects += objects
    failed = {
        **objects[1],
        "status": ready("False", "ProgressDeadlineExceeded", "no progress", kind="Progressing"),
    }
    api.streams["deployments"] = [[event(failed), HOLD]]
    done = wait(api, tmp_path, "isvc/m")
    assert done.code == 3
    assert (
        "error: InferenceService a/m will not become ready: Deployment a/m-predictor: "
        "ProgressDeadlineExceeded: no progress\n"
        "  help: see ingressctl describe inferenceservice.serving.kserve.io/m\n" in done.err
    )


def test_an_object_that_is_not_there_is_a_fault(api: FakeApi, tmp_path: Path) -> None:
    assert wait(api, tmp_path, "isvc/m").code == 2


def test_what_never_says_whether_it_is_ready_is_not_waited_for(
    api: FakeApi, tmp_path: Path
) -> None:
    isvc = starting()[0]
    api.groups = (*api.groups, "networking.istio.io")
    api.objects += [isvc, held("networking.istio.io/v1", "VirtualService", "m", owner=isvc)]
    done = wait(api, tmp_path, "vs/m")
    assert done.code == 2
    assert "wait for what it belongs to: ingressctl wait inferenceservice/m" in done.err


def test_another_condition_is_waited_for_by_name(api: FakeApi, tmp_path: Path) -> None:
    objects = starting()
    api.objects += objects
    words = ("deploy/m-two-predictor", "--for", "condition=Available")
    assert wait(api, tmp_path, *words).code == 0
    words = ("deploy/m-two-predictor", "--for", "condition=available=False")
    done = wait(api, tmp_path, *words, timeout="500ms")
    assert done.code == 3
    assert "is not available=False" in done.err


def test_a_crd_that_is_missing_ends_the_wait(api: FakeApi, tmp_path: Path) -> None:
    """The cluster of this server has no networking.k8s.io: routes cannot be made there."""
    objects = starting()
    objects[1]["status"] = ready("True", kind="Available")
    api.objects += objects
    done = wait(api, tmp_path, "isvc/m")
    assert done.code == 3
    assert "the cluster does not serve ingresses.networking.k8s.io" in done.err
    assert "install the CRD" in done.err


def test_files_are_looked_at_once(tmp_path: Path) -> None:
    words = ("-f", INPUTS / "model.yaml", "--against", INPUTS / "base")
    assert run("wait", "isvc/churn", *words).code == 0
    waits = tmp_path / "m.yaml"
    status = '{conditions: [{type: Ready, status: "False", reason: Slow}]}'
    waits.write_text(
        "apiVersion: serving.knative.dev/v1\nkind: Service\n"
        f"metadata: {{name: s, namespace: a}}\nstatus: {status}\n"
    )
    done = run("wait", "ksvc/s", "-f", waits)
    assert (done.code, done.out) == (3, "")
    assert "error: KService a/s is not ready: Slow" in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("isvc/m", "--for", "delete"), "--for"),
        (("isvc/m", "--timeout", "soon"), "--timeout cannot be 'soon'"),
        (("isvc",), "write KIND/NAME"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], says: str) -> None:
    done = run("wait", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err
