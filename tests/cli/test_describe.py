"""`describe` on a cluster and on files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.cli.fakeapi import FakeApi
from tests.cli.running import run
from tests.unit.plan import chains

INPUTS = Path(__file__).parent / "inputs"
MODEL, BASE = INPUTS / "model.yaml", INPUTS / "base"


def test_the_first_line_is_the_first_cause(api: FakeApi, tmp_path: Path) -> None:
    api.objects += chains.stuck()
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    done = run("describe", "isvc/m", "--kubeconfig", config)
    assert done.out.startswith(
        "InferenceService a/m is not ready: Pod a/m-two-predictor-1-x: ImagePullBackOff"
    )
    assert {method for method, _, _ in api.seen} == {"GET"}
    assert not [path for _, path, _ in api.seen if path.startswith("/api/v1/pods")]


def test_a_right_that_is_missing_is_named_and_the_rest_is_told(
    api: FakeApi, tmp_path: Path
) -> None:
    api.objects += chains.stuck()
    api.status["pods"] = 403
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    done = run("describe", "isvc/m", "--kubeconfig", config)
    assert "pods may not be listed in namespace a, left out: pods is forbidden" in done.err
    assert "ask for the verb list on pods in namespace a" in done.err
    assert done.out.startswith("InferenceService a/m is not ready: ")
    assert "Deployment a/m-two-predictor" in done.out.splitlines()[0]


def test_what_cannot_be_seen_is_not_blamed(api: FakeApi, tmp_path: Path) -> None:
    """Without the right to see runtimes, that there is none is no cause."""
    api.objects += chains.stuck()
    api.status |= {"pods": 403, "clusterservingruntimes": 403, "servingruntimes": 403}
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    done = run("describe", "isvc/m", "--kubeconfig", config)
    assert "no runtime" not in done.out.splitlines()[0]
    assert "clusterservingruntimes.serving.kserve.io may not be listed" in done.err


def test_a_kind_that_may_not_be_listed_is_the_reason_why_it_is_not_found(
    api: FakeApi, tmp_path: Path
) -> None:
    api.status["inferenceservices"] = 403
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    done = run("describe", "isvc/m", "--kubeconfig", config)
    assert (done.code, done.out) == (2, "")
    assert "inferenceservices.serving.kserve.io may not be listed" in done.err


def test_a_kind_that_is_not_served_is_told(api: FakeApi, tmp_path: Path) -> None:
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    done = run("describe", "ksvc/m", "--kubeconfig", config)
    assert done.code == 2
    assert "does not serve services.serving.knative.dev" in done.err


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_forms_for_programs_hold_all(form: str, api: FakeApi, tmp_path: Path) -> None:
    api.objects += chains.stuck()
    config = api.kubeconfig(tmp_path / "config", namespace="a")
    done = run("describe", "isvc/m", "--kubeconfig", config, "-o", form)
    value = json.loads(done.out) if form == "json" else yaml.safe_load(done.out)
    assert value["firstCause"]["object"]["kind"] == "Pod"
    assert value["ready"] == "False"
    assert [share["wanted"] for share in value["splits"][0]["shares"]] == [90, 10]
    assert {"Deployment"} <= {item["kind"] for item in value["below"]}
    assert isinstance(value["findings"], list)


def test_the_code_is_that_of_the_findings(tmp_path: Path) -> None:
    """As in `explain`: 1 in every form, or 0 with --exit-zero."""
    foreign = tmp_path / "foreign.yaml"
    foreign.write_text(
        "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"
        "metadata: {name: churn, namespace: team-a, uid: x}\nspec: {}\n"
    )
    for form in ("text", "json", "yaml"):
        words = ("describe", "isvc/churn", "-f", MODEL, "-f", foreign, "-o", form)
        words = (*words, "--against", BASE)
        assert run(*words).code == 1
        assert run(*words, "--exit-zero").code == 0


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("isvc",), "write KIND/NAME"),
        (("isvc/",), "write KIND/NAME"),
        (("isv/churn",), "did you mean isvc"),
        (("isvc/chrun", "-f", MODEL), "did you mean churn"),
        (("isvc/churn", "-f", MODEL, "-n", "other"), "choose -n team-a"),
        (("svc/nothing", "-f", MODEL), "there is no Service default/nothing"),
    ],
)
def test_mistakes_are_named(words: tuple[str, ...], says: str) -> None:
    done = run("describe", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_two_kinds_of_one_word_have_to_be_told_apart(tmp_path: Path) -> None:
    both = tmp_path / "both.yaml"
    both.write_text(
        "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: a}\n---\n"
        "apiVersion: serving.knative.dev/v1\nkind: Service\nmetadata: {name: s, namespace: a}\n"
        "spec: {template: {spec: {containers: [{image: x}]}}}\n"
    )
    done = run("describe", "services/s", "-f", both)
    assert done.code == 2
    assert "write service/s or service.serving.knative.dev/s" in done.err
    assert run("describe", "ksvc/s", "-f", both).code == 0


def test_an_object_that_is_refused_is_not_called_missing(tmp_path: Path) -> None:
    loop = {"routerType": "Sequence", "steps": [{"nodeName": "root"}]}
    graph = {
        "apiVersion": "serving.kserve.io/v1alpha1",
        "kind": "InferenceGraph",
        "metadata": {"name": "g", "namespace": "zoo"},
        "spec": {"nodes": {"root": loop}},
    }
    (tmp_path / "g.yaml").write_text(yaml.safe_dump(graph))
    for command in ("describe", "graph"):
        done = run(command, "ig/g", "-f", str(tmp_path / "g.yaml"), "--against", "none")
        assert done.code == 2
        assert "InferenceGraph zoo/g is refused" in done.err
