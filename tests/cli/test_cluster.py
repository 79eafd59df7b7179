"""A cluster as base: read only, in pages, and honest about what it does not tell."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
import yaml

from tests.cli.fakeapi import FakeApi
from tests.cli.running import run

TAKEOVER = Path(__file__).parents[1] / "takeover" / "kserve-standard-gateway-api"
SERVICES = TAKEOVER / "inferenceservices.yaml"


def load(api: FakeApi) -> None:
    for path in TAKEOVER.glob("*.yaml"):
        api.objects += [obj for obj in yaml.load_all(path.read_text(), yaml.CSafeLoader) if obj]


def test_a_cluster_is_taken_over_without_a_change(api: FakeApi, tmp_path: Path) -> None:
    """What a folder shows, a cluster shows: nothing, under kserve."""
    load(api)
    config = api.kubeconfig(tmp_path / "config")
    done = run("preview", "-f", SERVICES, "--kubeconfig", config, "--compat", "kserve")
    assert done.out == "0 to create, 0 to change, 0 to remove; 0 warnings\n"
    assert done.code == 0
    assert "cluster of the kubeconfig" in done.err


def test_only_gets_are_sent_with_the_token_and_in_pages(api: FakeApi, tmp_path: Path) -> None:
    """Nothing is written, and no list is asked for in one piece."""
    load(api)
    config = api.kubeconfig(tmp_path / "config")
    run("preview", "-f", SERVICES, "--kubeconfig", config, "--as", "jane", "--as-group", "dev")
    assert {method for method, _, _ in api.seen} == {"GET"}
    assert all(headers["Authorization"] == "Bearer secret" for _, _, headers in api.seen)
    assert all(headers["Impersonate-User"] == "jane" for _, _, headers in api.seen)
    assert all(headers["Impersonate-Group"] == "dev" for _, _, headers in api.seen)
    assert any("continue=" in path for _, path, _ in api.seen)
    assert not [path for _, path, _ in api.seen if path.startswith("/api/v1/configmaps")]


def test_a_kind_that_may_not_be_listed_is_named(api: FakeApi, tmp_path: Path) -> None:
    """The rest is answered."""
    load(api)
    api.status["namespaces"] = 403
    config = api.kubeconfig(tmp_path / "config")
    done = run("preview", "-f", SERVICES, "--kubeconfig", config, "--compat", "kserve")
    assert "namespaces may not be listed in every namespace, left out" in done.err
    assert "ask for the verb list on namespaces" in done.err
    assert "namespaces is forbidden" in done.err
    assert done.code == 0


@pytest.mark.parametrize(
    "words",
    [
        ("preview", "-f", SERVICES),
        ("explain", "http://churn-xgb-default.example.com/"),
        ("check",),
        ("describe", "isvc/churn-xgb"),
        ("get", "routes"),
        ("wait", "isvc/churn-xgb", "--timeout", "0"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_names_the_right_that_it_lacks(
    words: tuple[str | Path, ...], api: FakeApi, tmp_path: Path
) -> None:
    """Verb, resource and namespace, not to be muted; and there is an answer all the same."""
    load(api)
    api.status |= {"gateways": 403, "configmaps": 403}
    config = api.kubeconfig(tmp_path / "config", namespace="default")
    done = run(*words, "-q", "--kubeconfig", config)
    assert (
        "warning: cluster: gateways.gateway.networking.k8s.io may not be listed in every "
        "namespace, left out: gateways is forbidden (ask for the verb list on "
        "gateways.gateway.networking.k8s.io in every namespace)" in done.err
    )
    assert "ask for the verb list on configmaps in namespace kserve" in done.err
    assert done.out
    assert done.code in (0, 1)
    loud = run(*words, "--kubeconfig", config)
    assert "ConfigMap kserve/inferenceservice-config may not be read" in loud.err
    named = run(*words, "--kubeconfig", config, "--config-namespace", "kserve")
    assert named.code == 2
    assert "inferenceservice-config may not be read" in named.err


def test_what_passes_is_asked_for_again(api: FakeApi, tmp_path: Path) -> None:
    """A server under load answers 429 for a moment, one that starts 503."""
    load(api)
    api.passing["inferenceservices"] = [429, 503]
    config = api.kubeconfig(tmp_path / "config")
    done = run("preview", "-f", SERVICES, "--kubeconfig", config, "--compat", "kserve")
    assert done.out == "0 to create, 0 to change, 0 to remove; 0 warnings\n"
    asked = [path for _, path, _ in api.seen if path.split("?")[0].endswith("/inferenceservices")]
    assert len(asked) >= 3
    assert api.passing["inferenceservices"] == []


def test_objects_without_namespace_get_that_of_the_context(api: FakeApi, tmp_path: Path) -> None:
    """As kubectl does, and said."""
    config = api.kubeconfig(tmp_path / "config")
    manifest = tmp_path / "m.yaml"
    manifest.write_text("apiVersion: v1\nkind: Service\nmetadata:\n  name: s\n")
    done = run("preview", "-f", manifest, "--kubeconfig", config)
    assert "created Service team/s" in done.out
    assert "'team' is taken" in done.err


@pytest.mark.parametrize("form", ["diff", "human", "summary", "yaml", "json", "github"])
def test_an_unreachable_cluster_is_a_fault_in_every_form(tmp_path: Path, form: str) -> None:
    with FakeApi() as gone:
        config = gone.kubeconfig(tmp_path / "config")
    done = run("preview", "-f", SERVICES, "--kubeconfig", config, "-o", form)
    assert done.code == 2
    assert done.out == ""
    assert "cannot be reached" in done.err


def test_a_silent_cluster_ends_with_the_time_limit(tmp_path: Path) -> None:
    """A port that accepts and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = FakeApi(port=listener.getsockname()[1]).kubeconfig(tmp_path / "config")
        done = run("preview", "-f", SERVICES, "--kubeconfig", config, "--request-timeout", "200ms")
    assert done.code == 2
    assert "did not answer within 0.2 s" in done.err


def test_refused_credentials_are_a_fault(api: FakeApi, tmp_path: Path) -> None:
    api.status["services"] = 401
    config = api.kubeconfig(tmp_path / "config")
    done = run("preview", "-f", SERVICES, "--kubeconfig", config)
    assert done.code == 2
    assert "answers 401" in done.err


def test_a_context_that_is_not_there_is_named(api: FakeApi, tmp_path: Path) -> None:
    config = api.kubeconfig(tmp_path / "config")
    done = run("preview", "-f", SERVICES, "--kubeconfig", config, "--context", "two")
    assert done.code == 2
    assert "two" in done.err


def test_no_kubeconfig_is_said_when_a_cluster_is_asked_for() -> None:
    done = run("preview", "-f", SERVICES, "--against", "cluster")
    assert done.code == 2
    assert "there is no kubeconfig" in done.err
