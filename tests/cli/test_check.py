"""check sets apart what a change brings, and leaves out what people know."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import run

INPUTS = Path(__file__).parent / "inputs"
MODEL = INPUTS / "model.yaml"
LOSSY = ("--provider", "ingress")


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A folder that has the configuration and the model."""
    folder = tmp_path / "held"
    folder.mkdir()
    for path in (INPUTS / "base" / "config.yaml", MODEL):
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def codes(found: list[dict[str, str]]) -> list[str]:
    return [item["code"] for item in found]


def test_findings_are_introduced_fixed_or_unchanged(held: Path, tmp_path: Path) -> None:
    """A second model with the same loss; the first one loses its timeout and canary."""
    second = tmp_path / "second.yaml"
    second.write_text(MODEL.read_text().replace("name: churn", "name: other"))
    done = run("check", "-f", second, "--against", held, "-o", "json", *LOSSY)
    found = json.loads(done.out)
    named = {
        group: {item["objects"][0]["name"] for item in found[group] if item["code"] == "IC4001"}
        for group in ("introduced", "fixed", "unchanged")
    }
    assert named == {"introduced": {"other"}, "fixed": set(), "unchanged": {"churn"}}
    for form in ("text", "json"):
        words = ("check", "-f", MODEL, "--against", held, "-o", form, "--fail-on", "warning")
        assert run(*words, *LOSSY).code == 0, "what stays does not fail a change"


def test_a_change_that_mends_shows_what_it_fixes(held: Path, tmp_path: Path) -> None:
    private = tmp_path / "private.yaml"
    label = "team: crm\n    networking.kserve.io/visibility: cluster-local"
    private.write_text(MODEL.read_text().replace("team: crm", label))
    found = json.loads(run("check", "-f", private, "--against", held, "-o", "json", *LOSSY).out)
    assert "IC4001" in codes(found["fixed"])
    assert "IC4001" not in codes(found["introduced"])


def test_a_finding_can_be_ignored_by_code_object_or_annotation(tmp_path: Path) -> None:
    words = ("check", "--against", "none", "-o", "json", *LOSSY)
    place = "IC4001=InferenceService/team-a/churn"
    assert "IC4001" in codes(json.loads(run(*words, "-f", MODEL).out)["findings"])
    for ignore in ("IC4001", place, place.lower().replace("ic", "IC", 1)):
        found = json.loads(run(*words, "-f", MODEL, "--ignore", ignore).out)["findings"]
        assert "IC4001" not in codes(found)
        assert "IC1501" not in codes(found)
    annotated = tmp_path / "m.yaml"
    note = "annotations:\n    ingressctl.dev/ignore: IC4001"
    annotated.write_text(MODEL.read_text().replace("annotations:", note))
    assert "IC4001" not in codes(json.loads(run(*words, "-f", annotated).out)["findings"])


def test_a_suppression_that_matches_nothing_is_told(tmp_path: Path) -> None:
    words = ("check", "-f", MODEL, "--against", "none", "-o", "json")
    found = json.loads(run(*words, *LOSSY, "--ignore", "IC4001=Service/a/b").out)["findings"]
    assert {"IC4001", "IC1501"} <= set(codes(found))
    annotated = tmp_path / "m.yaml"
    note = "annotations:\n    ingressctl.dev/ignore: IC2001"
    annotated.write_text(MODEL.read_text().replace("annotations:", note))
    done = run("check", "-f", annotated, "--against", "none")
    assert "info [IC1501] (InferenceService team-a/churn" in done.out


def test_two_owners_of_one_host_are_found_across_namespaces(tmp_path: Path) -> None:
    """A template without the namespace gives both models one host (F4)."""
    second = tmp_path / "second.yaml"
    second.write_text(MODEL.read_text().replace("namespace: team-a", "namespace: team-b"))
    done = run(
        "check", "-f", MODEL, "-f", second, "-f", INPUTS / "base", "--against", "none",
        "--set", "inferenceservice-config.ingress.domainTemplate={{.Name}}.{{.IngressDomain}}",
    )  # fmt: skip
    assert done.code == 1
    assert "IC2101" in done.out


def test_one_fault_of_a_configuration_is_told_once(tmp_path: Path) -> None:
    """However many services it is for; the ConfigMap and its line come first."""
    many = tmp_path / "many.yaml"
    texts = [MODEL.read_text().replace("name: churn", f"name: churn-{n}") for n in range(9)]
    many.write_text("---\n".join(texts))
    config = tmp_path / "config.yaml"
    text = (INPUTS / "base" / "config.yaml").read_text()
    config.write_text(text.replace('"enableGatewayApi": true,', '"enableGatewayApi": true,,'))
    done = run("preview", "-f", many, "-f", config, "--against", "none")
    assert done.code == 2
    lines = [line for line in done.err.splitlines() if line.startswith("error")]
    assert len(lines) == 1
    assert "(ConfigMap kserve/inferenceservice-config" in lines[0]
    assert f"{config}:" in lines[0]
    assert "data.ingress" in lines[0]


@pytest.mark.parametrize("provider", ["istio", "ingress", "gateway_api"])
def test_what_preview_prints_is_a_base(tmp_path: Path, provider: str) -> None:
    """Nothing in it is foreign to its own service, though owners without uid are not written."""
    words = ("-f", MODEL, "-f", INPUTS / "base", "--against", "none", "--provider", provider)
    (tmp_path / "dump.yaml").write_text(run("preview", *words, "-o", "yaml").out)
    over = ("--against", tmp_path, "--provider", provider)
    assert run("preview", "-f", MODEL, *over, "-o", "json").code == 0
    second = tmp_path.parent / "second.yaml"
    second.write_text(MODEL.read_text().replace("name: churn", "name: other"))
    for files in ((), ("-f", MODEL), ("-f", second)):
        assert "IC5101" not in run("check", *files, *over).out


def test_the_closing_line_counts_what_is_listed(held: Path) -> None:
    """An error that was there before does not fail a change, but it is counted."""
    config = held / "config.yaml"
    both = '"domainTemplate": "{{.Name}}.{{.IngressDomain}}", "enableGatewayApi": true,'
    config.write_text(config.read_text().replace('"enableGatewayApi": true,', both))
    second = MODEL.read_text().replace("namespace: team-a", "namespace: team-b")
    (held / "second.yaml").write_text(second)
    done = run("check", "-f", MODEL, "--against", held)
    listed = [line for line in done.out.splitlines() if line.startswith("  error")]
    assert any("IC2101" in line for line in listed)
    assert f"unchanged ({len(listed)} error" in done.out.splitlines()[-1]
    assert done.code == 0


def test_what_preview_cannot_derive_check_does_not_pass(tmp_path: Path) -> None:
    """A configuration without the key router is none for a graph: told once, and 1 for check."""
    given = tmp_path / "graph.yaml"
    given.write_text(GRAPH_WITHOUT_ROUTER)
    previewed = run("preview", "-f", given, "--against", "none")
    checked = run("check", "-f", given, "--against", "none", "-o", "json")
    assert (previewed.code, checked.code) == (2, 1)
    errors = [
        item["code"] for item in json.loads(checked.out)["findings"] if item["level"] == "error"
    ]
    assert errors == ["IC1102"]


GRAPH_WITHOUT_ROUTER = """
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  deploy: '{"defaultDeploymentMode": "Standard"}'
  ingress: '{"ingressGateway": "a/b", "enableGatewayApi": true, "kserveIngressGateway": "a/b"}'
---
apiVersion: serving.kserve.io/v1alpha1
kind: InferenceGraph
metadata: {name: pipe, namespace: team-a}
spec:
  nodes:
    root:
      routerType: Sequence
      steps: [{serviceUrl: "http://model.elsewhere/"}]
"""
