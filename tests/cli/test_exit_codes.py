"""Exit codes are those of ux.md 8.3, and the same in every form of output."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ingressctl.cli import templates
from tests.cli.running import run

INPUTS = Path(__file__).parent / "inputs"
BASE, MODEL = INPUTS / "base", INPUTS / "model.yaml"
PREVIEW = ("diff", "human", "summary", "yaml", "json", "github")
LOSSY = ("--provider", "ingress")
"""Ingress cannot express the timeout and headers of the model: a warning."""


@pytest.fixture
def held(tmp_path: Path) -> Path:
    """A folder that has the model already."""
    for path in (BASE / "config.yaml", MODEL):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    return tmp_path


@pytest.mark.parametrize("form", PREVIEW)
def test_nothing_to_change_is_zero(held: Path, form: str) -> None:
    assert run("preview", "-f", MODEL, "--against", held, "-o", form).code == 0


@pytest.mark.parametrize("form", PREVIEW)
def test_a_difference_is_one_and_exit_zero_turns_it_off(form: str) -> None:
    words = ("preview", "-f", MODEL, "--against", BASE, "-o", form)
    assert run(*words).code == 1
    assert run(*words, "--exit-zero").code == 0


@pytest.mark.parametrize("form", PREVIEW)
def test_a_refused_object_is_two_even_with_exit_zero(tmp_path: Path, form: str) -> None:
    bad = tmp_path / "m.yaml"
    bad.write_text(MODEL.read_text().replace("trafficPercent: 10", "trafficPercent: 1000"))
    done = run("preview", "-f", bad, "--against", BASE, "-o", form, "--exit-zero")
    assert done.code == 2
    assert form not in ("yaml", "json") or done.out == ""


@pytest.mark.parametrize("form", PREVIEW)
def test_no_difference_but_a_finding_at_the_bar_is_one(held: Path, form: str) -> None:
    words = ("preview", "-f", MODEL, "--against", held, "-o", form, *LOSSY)
    assert run(*words).code == 0
    assert run(*words, "--fail-on", "warning").code == 1
    known = ("--ignore", "IC4001")
    assert run(*words, "--fail-on", "warning", *known).code == 0


@pytest.mark.parametrize("form", ["text", "json"])
def test_check_fails_by_the_bar(form: str) -> None:
    words = ("check", "-f", MODEL, "--against", "none", "-o", form, *LOSSY)
    assert run(*words).code == 0
    assert run(*words, "--fail-on", "warning").code == 1
    assert run(*words, "--fail-on", "warning", "--exit-zero").code == 0


@pytest.mark.parametrize("form", ["yaml", "json"])
def test_render_is_zero_and_a_comparison_that_differs_one(form: str) -> None:
    words = ("render", "-f", MODEL, "--against", BASE, "-o", form)
    assert run(*words).code == 0
    assert run(*words, "--compare", "gateway_api,ingress").code == 1
    assert run(*words, "--compare", "istio,istio").code == 0


@pytest.mark.parametrize("form", ["text", "json"])
def test_explain_is_zero_whether_or_not_something_answers(form: str) -> None:
    """What it says is the answer; a request that nothing takes is no fault."""
    words = ("-f", MODEL, "--against", BASE, "-o", form)
    assert run("explain", "http://churn-team-a.example.com/", *words).code == 0
    assert run("explain", "http://nobody.example.com/", *words).code == 0


@pytest.mark.parametrize("url", ["http://not_a_url/", "not_a_url", "http://a..b/", "http://*.b/"])
def test_a_host_that_nobody_can_ask_is_two(url: str) -> None:
    done = run("explain", url, "-f", MODEL, "--against", BASE)
    assert done.code == 2
    assert "can be no host" in done.err


@pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://[::1]:8080/", "http://churn.team-a./"])
def test_addresses_and_rooted_names_can_be_asked(url: str) -> None:
    assert run("explain", url, "-f", MODEL, "--against", BASE).code == 0


def test_a_refused_object_is_two_but_for_check_a_finding(tmp_path: Path) -> None:
    bad = tmp_path / "m.yaml"
    bad.write_text(MODEL.read_text().replace("trafficPercent: 10", "trafficPercent: 1000"))
    words = ("-f", bad, "--against", BASE)
    codes = {name: run(name, *words).code for name in ("preview", "render", "check")}
    codes["explain"] = run("explain", "http://churn-team-a.example.com/", *words).code
    assert codes == {"preview": 2, "render": 2, "explain": 2, "check": 1}


@pytest.mark.parametrize("words", [(), ("--against", "none"), ("-o", "json")])
def test_check_of_nothing_is_two(words: tuple[str, ...]) -> None:
    """A job that lost its kubeconfig must not be green."""
    done = run("check", *words)
    assert (done.code, done.out) == (2, "")
    assert "no input is given" in done.err


def test_check_of_a_folder_alone_is_an_answer(held: Path) -> None:
    assert run("check", "--against", held).code == 0


def test_environment_variables_stand_for_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    """The flag goes before its variable."""
    monkeypatch.setenv("INGRESSCTL_AGAINST", str(BASE))
    monkeypatch.setenv("INGRESSCTL_OUTPUT", "summary")
    monkeypatch.setenv("INGRESSCTL_EXIT_ZERO", "1")
    done = run("preview", "-f", MODEL)
    assert done.code == 0
    assert done.out.splitlines()[-1].startswith("3 to create")
    assert len(done.out.splitlines()) == 4
    assert run("preview", "-f", MODEL, "--against", "none", "-o", "yaml").out.startswith("api")


def test_quiet_mutes_talk_and_not_errors(tmp_path: Path) -> None:
    assert run("preview", "-f", MODEL, "--against", "none").err
    words = ("-f", MODEL, "--against", BASE, "-q")
    assert run("preview", *words).err == ""
    assert "error:" in run("preview", "-f", tmp_path / "gone.yaml", "-q").err


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("preveiw",), "Did you mean preview?"),
        (("preview", "--provder", "istio"), "--provider"),
        (("preview", "-f", MODEL, "--provider", "Istio"), "did you mean istio?"),
        (("preview", "-f", MODEL, "--provider", "gateway-api"), "did you mean gateway_api?"),
        (("preview", "-f", MODEL, "--provider", "nginx"), "did you mean ingress?"),
        (("render", "-f", MODEL, "--compare", "istio,ingres"), "did you mean ingress?"),
    ],
)
def test_a_name_that_is_near_is_suggested(words: tuple[str | Path, ...], meant: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert meant in done.err


@pytest.mark.parametrize("words", [("foo",), ("preview", "--foo"), ("up", "--provider", "x")])
def test_a_name_that_is_far_is_not(words: tuple[str, ...]) -> None:
    done = run(*words)
    assert done.code == 2
    assert "mean" not in done.err
    assert "Possible" not in done.err


def test_providers_of_templates_are_called_as_their_file_says(tmp_path: Path) -> None:
    folder = tmp_path / "mygw"
    shutil.copytree(templates.shipped_root() / "providers" / "traefik", folder)
    file = folder / "provider.yaml"
    file.write_text(file.read_text().replace("name: traefik", "name: other"))
    for root in (tmp_path, folder):
        words = ("render", "-f", MODEL, "--against", BASE, "--templates", root)
        done = run(*words, "--provider", "mygw")
        assert done.code == 2
        assert "there is no provider 'mygw'; --templates" in done.err
        assert "holds other (folder mygw)" in done.err
        assert run(*words, "--provider", "other").code == 0


def test_quiet_never_mutes_what_is_counted() -> None:
    words = ("-f", MODEL, "--against", BASE, "-q", *LOSSY)
    for command in ("preview", "render"):
        assert "warning [IC4001]" in run(command, *words).err
    assert "warning [IC4001]" in run("check", *words).out


@pytest.mark.parametrize("command", ["preview", "render", "check", "explain http://a.b/"])
def test_an_object_in_two_files_is_told_with_both_places(tmp_path: Path, command: str) -> None:
    """The later one holds, and nobody has to guess which that is."""
    for name in ("a", "b"):
        (tmp_path / f"{name}.yaml").write_text(MODEL.read_text())
    words = (*command.split(), "-f", tmp_path, "--against", BASE, "-q")
    done = run(*words)
    (line,) = [line for line in (done.out + done.err).splitlines() if "IC1502" in line]
    assert line.strip().startswith("warning [IC1502] (InferenceService team-a/churn")
    assert "a.yaml:" in line
    assert "b.yaml:" in line
    assert run(*words, "--fail-on", "warning").code == 1
    assert "IC1502" not in run(*words, "--ignore", "IC1502").err


def test_a_setting_over_a_file_is_no_second_copy() -> None:
    setting = ("--set", "inferenceservice-config.ingress.ingressDomain=x.org")
    done = run("preview", "-f", MODEL, "-f", BASE, "--against", "none", *setting)
    assert "IC1502" not in done.err


@pytest.mark.parametrize(
    ("flag", "variables", "coloured"),
    [
        ("auto", {}, False),
        ("auto", {"FORCE_COLOR": "1"}, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        ("always", {"NO_COLOR": "1"}, True),
        ("never", {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colour_respects_flag_and_environment(
    flag: str, variables: dict[str, str], coloured: bool
) -> None:
    done = run(
        "preview", "-f", MODEL, "--against", "none", "--color", flag, variables={**variables}
    )
    assert ("\x1b[" in done.out) is coloured


def test_json_holds_numbers_of_any_size(tmp_path: Path) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(
        "apiVersion: x.io/v1\nkind: Thing\nmetadata: {name: a, namespace: b}\n"
        f"spec: {{small: 1, large: {10**30}, text: 'é\\u2028'}}\n"
    )
    done = run("preview", "-f", path, "--against", "none", "-o", "json", "--exit-zero")
    spec = json.loads(done.out)["spec"]
    assert (spec["small"], spec["large"]) == (1, 10**30)


@pytest.mark.parametrize("command", ["preview", "render", "explain", "check", "up --dump"])
def test_a_version_that_is_not_served_is_a_refused_object(tmp_path: Path, command: str) -> None:
    bad = tmp_path / "m.yaml"
    bad.write_text(MODEL.read_text().replace("kserve.io/v1beta1", "kserve.io/v1beta2"))
    words = command.split()
    if command == "explain":
        words.append("http://churn-team-a.example.com/")
    base = () if words[0] == "up" else ("--against", BASE)
    done = run(*words, "-f", bad, *base)
    assert done.code == (1 if command == "check" else 2)
    assert "is not served in version v1beta2" in done.out + done.err
    assert "created" not in done.out


@pytest.mark.parametrize(
    "command", ["preview", "render", "explain http://churn-team-a.example.com/"]
)
def test_what_is_written_in_vain_is_told_by_every_command(tmp_path: Path, command: str) -> None:
    text = MODEL.read_text()
    (tmp_path / "m.yaml").write_text(text.replace("spec:\n", "spec:\n  predictr: {}\n", 1))
    (tmp_path / "n.yaml").write_text(
        text.replace("kind: InferenceService", "kind: InferenceServise")
    )
    words = (*command.split(), "-f", tmp_path, "--against", BASE, "-q")
    done = run(*words)
    assert "IC1120" in done.err
    assert "IC1121" in done.err
    assert run(*words, "--fail-on", "warning").code == 1


def test_quiet_does_not_hide_what_makes_the_command_fail() -> None:
    words = ("render", "-f", MODEL, "--against", "none", "-q")
    assert "info [" not in run(*words).err
    done = run(*words, "--fail-on", "info")
    assert done.code == 1
    assert "info [" in done.err


@pytest.mark.parametrize("command", ["preview", "render", "explain"])
def test_a_template_that_fails_is_two(tmp_path: Path, command: str) -> None:
    folder = tmp_path / "mygw"
    shutil.copytree(templates.shipped_root() / "providers" / "traefik", folder)
    for file in folder.glob("*.j2"):
        file.write_text("{{ nothing_of_this_name.at_all }}\n")
    words = [command, *(["http://churn-team-a.example.com/"] if command == "explain" else [])]
    use = ("--templates", folder, "--provider", "traefik")
    done = run(*words, "-f", MODEL, "--against", BASE, *use)
    assert done.code == 2
    assert "error [IC4101]" in done.err
    assert "hosts that are served" not in done.out


def test_of_a_repeatable_flag_a_variable_has_one_value_a_line(tmp_path: Path) -> None:
    """Headers and the names of files have spaces in them."""
    spaced = tmp_path / "my model.yaml"
    spaced.write_bytes(MODEL.read_bytes())
    files = f"{spaced}\n{MODEL}"
    done = run("check", "--against", "none", variables={"INGRESSCTL_FILENAME": files})
    assert f"it is given here and at {spaced}" in done.out.replace("\n", " ").replace("  ", " ")
