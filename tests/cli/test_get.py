"""`get`: routes and kinds, of files, a folder and a cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from tests.apiserver import made
from tests.cli.fakeapi import FakeApi
from tests.cli.running import run
from tests.cli.test_cluster import TAKEOVER, load

HELD = Path(__file__).parent / "inputs" / "held"


def test_routes_of_a_cluster_are_those_of_the_namespace(api: FakeApi, tmp_path: Path) -> None:
    load(api)
    config = api.kubeconfig(tmp_path / "config", namespace="default")
    done = run("get", "routes", "--kubeconfig", config)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].split() == ["HOST", "RULE", "BACKEND", "WEIGHT", "PROVIDER", "READY"]
    assert "rec-canary-v2-predictor:80" in done.out
    everywhere = run("get", "routes", "--kubeconfig", config, "-A")
    assert everywhere.out.splitlines()[0].split()[:2] == ["NAMESPACE", "HOST"]
    assert len(everywhere.out.splitlines()) > len(lines)


def test_nothing_found_is_said_on_stderr_and_is_no_fault(api: FakeApi, tmp_path: Path) -> None:
    load(api)
    config = api.kubeconfig(tmp_path / "config")
    done = run("get", "routes", "--kubeconfig", config, "-n", "empty")
    assert (done.code, done.out) == (0, "")
    assert "No resources found in empty namespace." in done.err


def test_no_headers_leaves_only_rows() -> None:
    titled = run("get", "routes", "--against", HELD).out.splitlines()
    bare = run("get", "routes", "--against", HELD, "--no-headers").out.splitlines()
    assert len(bare) == len(titled) - 1
    assert not any(line.startswith("HOST") for line in bare)


def test_forms_for_programs_are_whole_documents() -> None:
    words = ("get", "httproutes", "--against", TAKEOVER, "-n", "default")
    listed = json.loads(run(*words, "-o", "json").out)
    assert listed["kind"] == "List"
    names = {item["metadata"]["name"] for item in listed["items"]}
    assert "managedFields" not in listed["items"][0]["metadata"]
    assert yaml.safe_load(run(*words, "-o", "yaml").out)["kind"] == "List"
    named = run(*words, "-o", "name").out.split()
    assert {line.partition("/")[2] for line in named} == names
    assert named[0].startswith("httproute.gateway.networking.k8s.io/")
    picked = run(*words, "-o", "jsonpath={.items[*].metadata.name}").out.split()
    assert set(picked) == names


def test_one_object_is_shown_by_its_name() -> None:
    """As people write it for kubectl: in one word or in two."""
    words = ("--against", TAKEOVER, "-n", "default")
    (first, *_) = run("get", "httproutes", *words, "-o", "name").out.split()
    name = first.partition("/")[2]
    for asked in ((f"httproute/{name}",), ("httproutes", name)):
        done = run("get", *asked, *words, "-o", "name")
        assert (done.code, done.out.split()) == (0, [first])
    for asked, says in (
        (("isvc", "nobody"), "there is no isvc nobody in namespace default"),
        (("routes", name), "routes have no name"),
        ((f"httproute/{name}", name), "has a name already"),
    ):
        done = run("get", *asked, *words)
        assert done.code == 2
        assert says in done.err


def test_objects_of_a_folder_without_a_namespace_are_in_the_chosen_one(tmp_path: Path) -> None:
    """As those of files, and as visibly."""
    bare = {**made.service("model"), "metadata": {"name": "model"}}
    (tmp_path / "model.yaml").write_text(yaml.safe_dump(bare))
    done = run("get", "isvc", "-A", "--against", tmp_path, "-o", "jsonpath={.items[*].metadata}")
    assert '"namespace":"default"' in done.out.replace(" ", "")
    assert "without a namespace: 'default' is taken" in done.err
    done = run("wait", "isvc/model", "-n", "team-a", "--against", tmp_path)
    assert "InferenceService team-a/model" in done.err or done.code == 0


def test_what_has_no_route_is_told_where_routes_of_files_are_listed() -> None:
    demo = Path(__file__).parents[1] / "demo"
    done = run("get", "routes", "-f", demo, "--against", "none")
    assert "iris-demo.example.com" in done.out
    assert "InferenceService demo/income has no route" in " ".join(done.err.split())
    told = run("get", "routes", "-f", demo, "--against", "none", "--assume", "ready").err
    assert "has no route" not in told


def test_labels_choose() -> None:
    words = ("get", "isvc", "--against", TAKEOVER, "-o", "name", "-l")
    assert run(*words, "team=crm").out.split() == ["inferenceservice.serving.kserve.io/churn-xgb"]
    assert "churn-xgb" not in run(*words, "team!=crm").out
    assert run(*words, "=x").code == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("htproutes",), "did you mean httproutes"),
        (("routes", "-o", "xml"), "-o cannot be 'xml'"),
        (("routes", "-o", "jsonpath={.items"), "brace is not closed"),
    ],
)
def test_mistakes_are_named_before_anything_is_read(words: tuple[str, ...], says: str) -> None:
    done = run("get", *words)
    assert (done.code, done.out) == (2, "")
    assert says in done.err


def test_routes_of_a_provider_without_objects_are_listed() -> None:
    done = run("get", "routes", "-f", HELD, "--provider", "envoy")
    assert done.code == 0
    assert "envoy" in done.out.splitlines()[1]


def test_an_object_that_is_refused_is_a_fault(tmp_path: Path) -> None:
    bad = tmp_path / "m.yaml"
    bad.write_text(
        "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\n"
        "metadata: {name: M_M, namespace: a}\nspec: {predictor: {}}\n"
    )
    done = run("get", "routes", "-f", bad)
    assert done.code == 2
    assert "error" in done.err


def test_who_may_look_only_at_home_is_told_and_answered(api: FakeApi, tmp_path: Path) -> None:
    """The usual right of a team: a namespace, and nothing beyond."""
    load(api)
    api.only_in = "default"
    config = api.kubeconfig(tmp_path / "config", namespace="default")
    done = run("get", "routes", "--kubeconfig", config)
    assert done.code == 0
    assert "rec-canary-v2-predictor:80" in done.out
    assert (
        "httproutes.gateway.networking.k8s.io may not be listed in every namespace, only those "
        "of namespace default are known" in done.err
    )
    assert "configmaps may not be listed in namespace kserve, left out" in done.err
    assert "ask for the verb list on configmaps in namespace kserve" in done.err
