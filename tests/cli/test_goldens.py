"""What commands print, whole, at 80 columns without colour.

Each golden says what it must show; the file beside it is what the program printed when that
was looked at. `GOLDENS=write` writes them anew, to be looked at again.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingressctl.cli import main
from tests.cli.running import run

HERE = Path(__file__).parent
GOLDENS = HERE / "goldens"
MODEL, RAISED, BASE = "inputs/model.yaml", "inputs/raised.yaml", "inputs/base"
HELD = "inputs/held"


@dataclass(frozen=True)
class Golden:
    """A command, and texts without which its output would be wrong whatever the file says."""

    name: str
    words: tuple[str, ...]
    code: int
    must: tuple[str, ...]


ALL = (
    Golden("help", ("--help",), 0, ("preview", "completion", "Exit codes", "Examples:")),
    *(
        Golden(f"help-{name}", (name, "--help"), 0, ("Usage: ingressctl", "Examples:", "--debug"))
        for name in main.COMMANDS
    ),
    Golden(
        "graph-tree",
        ("graph", "ig/animals", "-f", "inputs/graph.yaml", "--against", "none"),
        0,
        ("root", "90 % -> InferenceService dog-breeds", "2 if it fails", "otherwise ->"),
    ),
    Golden(
        "graph-mermaid",
        ("graph", "ig/animals", "-f", "inputs/graph.yaml", "--against", "none", "-o", "mermaid"),
        0,
        ("flowchart LR", "-.->", "#quot;dog#quot;"),
    ),
    Golden(
        "explain-graph",
        (
            "explain", "http://animals-team-a.example.com/", "-q", "--against", "none",
            "-f", "inputs/graph.yaml", "-f", "inputs/graph-services.yaml",
            "-d", '{"instances": ["rex"]}', "--answer", 'look={"predictions":["dog"]}',
            "--answer", "dog-breeds=503", "--answer", "dog-breeds-next=down",
        ),
        0,
        ('gave   200 OK  {"predictions":["dog"]}', "503 Service Unavailable", "taken    dogs.0"),
    ),
    Golden(
        "explain-graphs",
        (
            "explain", "http://photos-team-a.example.com/", "-q", "--against", "none",
            "-f", "inputs/graph.yaml", "-f", "inputs/graph-services.yaml",
            "-f", "inputs/graph-outer.yaml", "-d", '{"instances": ["rex"]}',
            "--answer", 'animals/root.look={"predictions":["dog"]}',
        ),
        0,
        ("    within InferenceGraph team-a/animals:", "      taken    dogs.0"),
    ),
    Golden(
        "preview-new",
        ("preview", "-f", MODEL, "--against", BASE),
        1,
        ("+ created InferenceService", "+      weight: 10", "3 to create"),
    ),
    Golden(
        "preview-raised",
        ("preview", "-f", RAISED, "--against", HELD),
        1,
        ("-    trafficPercent: 10", "+    trafficPercent: 25", "@@ -", "0 to create, 3 to change"),
    ),
    Golden(
        "preview-raised-human",
        ("preview", "-f", RAISED, "--against", HELD, "-o", "human"),
        1,
        ("spec.canary[second].trafficPercent: 10 -> 25", ".weight: 90 -> 75"),
    ),
    Golden(
        "preview-raised-summary",
        ("preview", "-f", RAISED, "--against", HELD, "-o", "summary"),
        1,
        ("  ~ changed HTTPRoute team-a/churn-predictor",),
    ),
    Golden(
        "preview-raised-github",
        ("preview", "-f", RAISED, "--against", HELD, "-o", "github"),
        1,
        ("### ingressctl preview: 0 to create, 3 to change", "```diff", "</details>"),
    ),
    Golden(
        "preview-yaml",
        ("preview", "-f", MODEL, "--against", BASE, "-o", "yaml"),
        1,
        ("kind: List", "kind: HTTPRoute", "kind: InferenceService"),
    ),
    Golden(
        "preview-configuration",
        (
            "preview", "-f", MODEL, "--against", HELD, "-o", "human",
            "--set", "inferenceservice-config.ingress.urlScheme=https",
            "--set", "inferenceservice-config.ingress.ingressDomain=x.org",
        ),
        1,
        ("(--set)", "~ data.ingress.ingressDomain: example.com -> x.org"),
    ),
    Golden(
        "preview-lossy",
        ("preview", "-f", MODEL, "--against", BASE, "-o", "summary", "--provider", "ingress"),
        1,
        ("warning [IC4", "to create"),
    ),
    Golden(
        "render-istio",
        ("render", "-f", MODEL, "--against", BASE, "--provider", "istio"),
        0,
        ("kind: VirtualService", "weight: 10"),
    ),
    Golden(
        "render-compare",
        ("render", "-f", MODEL, "--against", BASE, "--compare", "gateway_api,ingress"),
        1,
        ("- gateway_api: 2 objects", "+ ingress: 1 object", "lost by ingress:"),
    ),
    Golden(
        "explain",
        ("explain", "http://churn-team-a.example.com/v1/models/churn", "-f", MODEL,
         "--against", BASE),
        0,
        ("90 %  churn-predictor.team-a", "10 %  churn-second-predictor.team-a", "30s"),
    ),
    Golden(
        "explain-trace",
        ("explain", "http://nobody.example.com/", "-f", MODEL, "--against", BASE, "--trace"),
        0,
        ("404",),
    ),
    Golden(
        "describe",
        ("describe", "isvc/churn", "-f", RAISED, "--against", HELD),
        0,
        ("InferenceService team-a/churn is ready", "25%   25%", "Chain:"),
    ),
    Golden(
        "describe-json",
        ("describe", "httproute/churn", "-f", MODEL, "--against", BASE, "-o", "json", "-q"),
        0,
        ('"owners": [', '"kind": "InferenceService"'),
    ),
    Golden(
        "get-routes",
        ("get", "routes", "-f", MODEL, "--against", BASE, "-q"),
        0,
        ("HOST", "churn-second-predictor:80", "  10 "),
    ),
    Golden(
        "get-isvc-wide",
        ("get", "isvc", "-f", RAISED, "--against", HELD, "-o", "wide"),
        0,
        ("PREVROLLEDOUTREVISION", "http://churn-team-a.example.com"),
    ),
    Golden(
        "check-held",
        ("check", "-f", RAISED, "--against", HELD, "--provider", "ingress"),
        0,
        ("there before and after:", "0 introduced"),
    ),
    Golden(
        "fault",
        ("preview", "-f", "inputs/broken.yaml", "--against", BASE),
        2,
        ("broken.yaml:4: metadata.labels.live: must be text", "broken.yaml:9: is not valid YAML"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("golden", ALL, ids=lambda golden: golden.name)
def test_output_is_as_it_was_looked_at(golden: Golden, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(HERE)
    writes = os.environ.get("GOLDENS") == "write"
    done = run(*golden.words)
    text = f"$ ingressctl {' '.join(golden.words)}\n{done.out}--- stderr\n{done.err}"
    path = GOLDENS / f"{golden.name}.txt"
    if writes:
        path.write_text(text, "utf-8")
    assert done.code == golden.code
    for words in golden.must:
        assert words in text
    assert text == path.read_text("utf-8")


def test_help_fits_80_columns() -> None:
    for golden in ALL:
        if golden.name.startswith("help"):
            lines = run(*golden.words).out.splitlines()
            wide = [line for line in lines if len(line) > 80 and "ingressctl" not in line]
            assert wide == []


def test_no_golden_is_left_over() -> None:
    assert {path.stem for path in GOLDENS.glob("*.txt")} == {golden.name for golden in ALL}
