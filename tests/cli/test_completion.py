"""Shells get commands, flags and providers; nothing is said about faults."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path

import pytest

from ingressctl.cli import completion, main, names
from tests.cli.fakeapi import FakeApi
from tests.cli.running import run

INPUTS = Path(__file__).parent / "inputs"


@pytest.mark.parametrize(
    ("shell", "says"),
    [
        ("bash", "complete -o default -F _ingressctl_completion ingressctl"),
        ("zsh", "#compdef ingressctl"),
        ("fish", "complete --command ingressctl"),
    ],
)
def test_a_script_for_each_shell(shell: str, says: str) -> None:
    done = run("completion", shell)
    assert done.code == 0
    assert says in done.out
    assert "_INGRESSCTL_COMPLETE" in done.out


def test_an_unknown_shell_is_a_usage_mistake() -> None:
    assert run("completion", "tcsh").code == 2


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["pre"], ["preview"]),
        (["preview", "--assu"], ["--assume"]),
        (["render", "--provider", "gate"], ["gateway_api"]),
        (["preview", "--nonsense"], []),
        (["preview", "--against", ""], ["cluster", "none"]),
        (["preview", "--assume", "o"], ["observed"]),
        (["preview", "--compat", "k"], ["kserve"]),
        (["preview", "--write", "routes"], ["routes", "routes,workloads"]),
        (["preview", "--beside", ""], ["kserve"]),
        (["render", "--compare", "gate"], ["gateway_api,"]),
        (["render", "--compare", "istio,gate"], ["istio,gateway_api"]),
        (["preview", "-o", "su"], ["summary"]),
        (["up", "--prov"], []),
        (["describe", "inf"], ["inferenceservices/", "inferencegraphs/"]),
        (["describe", "isvc/m"], []),
        (["describe", "nothing/m"], []),
        (["get", "rou"], ["routes", "routes.route.openshift.io", "routes.serving.knative.dev"]),
        (["get", "infe"], ["inferenceservices", "inferencegraphs"]),
    ],
)
def test_kubectl_gets_candidates(words: list[str], found: list[str]) -> None:
    """Without help texts these are the words that may follow."""
    got = completion.candidates(main.tree(), words)
    assert [line.split("\t")[0] for line in got] == found


def test_names_come_from_the_cluster(api: FakeApi, tmp_path: Path) -> None:
    """Of the namespace of -n, else of that of the context."""
    api.objects += [
        {
            "apiVersion": "serving.kserve.io/v1beta1",
            "kind": "InferenceService",
            "metadata": {"name": name, "namespace": space},
        }
        for name, space in (("iris", "a"), ("income", "a"), ("other", "a"), ("iron", "b"))
    ]
    config = str(api.kubeconfig(tmp_path / "config", namespace="a"))

    def found(*words: str) -> list[str]:
        return list(completion.candidates(main.tree(), [*words, "--kubeconfig", config, "isvc/i"]))

    assert found("describe") == ["isvc/income", "isvc/iris"]
    assert found("wait", "-n", "b") == ["isvc/iron"]


def test_a_cluster_that_does_not_answer_completes_nothing_and_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A port that accepts and says nothing, with less patience than a shell gets."""
    assert names.SECONDS == 2
    monkeypatch.setattr(names, "SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = FakeApi(port=listener.getsockname()[1]).kubeconfig(tmp_path / "config")
        words = ["describe", "--kubeconfig", str(config), "isvc/i"]
        assert list(completion.candidates(main.tree(), words)) == []
    assert capfd.readouterr().err == ""


def test_a_shell_gets_candidates_from_the_program() -> None:
    """As the bash script calls it."""
    done = subprocess.run(
        [sys.executable, "-m", "ingressctl"],
        env={
            "COMP_WORDS": "ingressctl expl",
            "COMP_CWORD": "1",
            "_INGRESSCTL_COMPLETE": "complete_bash",
            "PYTHONPATH": ":".join(sys.path),
        },
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.split() == ["explain"]
    assert done.stderr == ""


def test_a_typer_that_completes_otherwise_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its names for completion are private: they may be gone in the next version."""
    monkeypatch.setitem(sys.modules, "typer._completion_shared", None)
    done = run("completion", "bash")
    assert (done.code, done.out) == (2, "")
    assert "error: the installed typer completes in another way" in done.err
    monkeypatch.setattr(sys, "argv", ["kubectl_complete-ingressctl", "pre"])
    completion.kubectl()
    assert run("version").code == 0


def test_preview_imports_no_template_engine() -> None:
    """Nor clients, servers and compilers that only other commands need."""
    words = ["preview", "-f", str(INPUTS / "model.yaml"), "--against", str(INPUTS / "base")]
    code = (
        "import sys\nfrom ingressctl.cli import main\n"
        f"try:\n    main.main({words!r})\nexcept SystemExit as end:\n    assert end.code == 1\n"
        "heavy = {'jinja2', 'rich', 'grpc', 'kubernetes', 'aiohttp', 'asyncio'}\n"
        "sys.exit(' '.join(sorted(heavy & set(sys.modules))) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr


def test_help_imports_no_command() -> None:
    """What keeps `ingressctl --help` fast: commands, models and clients stay out."""
    code = (
        "import sys\nfrom ingressctl.cli import main\n"
        "try:\n    main.main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'pydantic', 'yaml', 'jinja2', 'rich', 'grpc', 'kubernetes', 'gotpl'}\n"
        "sys.stderr.write(' '.join(sorted(heavy & set(sys.modules))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stderr == ""
