"""Bad input: one clear message a fault with its place and remedy, exit 2, nothing half done."""

from __future__ import annotations

import errno
import http.server
import os
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingressctl.cli import inputs
from tests.cli.running import Done, run

INPUTS = Path(__file__).parent / "inputs"
GOOD = INPUTS / "model.yaml"
ANIMALS = "http://animals-team-a.example.com/"
GRAPHS = ("-f", INPUTS / "graph.yaml", "-f", INPUTS / "graph-services.yaml", "--against", "none")


def refused(done: Done, *says: str) -> None:
    """Exit 2, no data, each text told, each error with a help line."""
    assert done.code == 2, done
    assert done.out == ""
    for text in says:
        assert text in done.err
    errors = sum(line.startswith("error:") for line in done.err.splitlines())
    assert errors == sum(line.startswith("  help: ") for line in done.err.splitlines())
    assert errors >= 1


def write(path: Path, text: str | bytes) -> Path:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: [\n", "m.yaml:2: is not valid YAML"),
        ("kind: Service\nmetadata: {name: a}\n", "m.yaml:1: has no apiVersion"),
        ("", "m.yaml: holds no objects"),
        (b"\0\0\0", "m.yaml: is a binary file"),
        (b"\xff\xfea\0", "m.yaml: is a binary file"),
        (b"caf\xe9: 1\n", "m.yaml: is not UTF-8 text (line 1)"),
        (
            "apiVersion: v1\nkind: Service\nmetadata:\n  name: a\n  labels: {x: 1}\n",
            "m.yaml:5: metadata.labels.x: must be text, not the number 1",
        ),
    ],
)
@pytest.mark.parametrize("command", ["preview", "render", "check"])
def test_a_broken_file_is_told_with_its_line(
    tmp_path: Path, text: str | bytes, says: str, command: str
) -> None:
    path = write(tmp_path / "m.yaml", text)
    refused(run(command, "-f", path, "--against", "none"), says)


def test_every_fault_of_every_file_is_told_at_once(tmp_path: Path) -> None:
    one = write(tmp_path / "one.yaml", "a: [\n---\nkind: X\n")
    two = write(tmp_path / "two.yaml", "")
    done = run("preview", "-f", one, "-f", two, "-f", tmp_path / "three.yaml", "-f", GOOD)
    refused(done, "one.yaml:2:", "one.yaml:3:", "two.yaml:", "three.yaml: does not exist")
    assert done.err.count("error:") == 4


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    """50 MB of YAML; sparse, so that the test costs no disk."""
    path = tmp_path / "big.yaml"
    with path.open("wb") as stream:
        stream.write(b"a: 1\n")
        stream.truncate(50 << 20)
    refused(run("preview", "-f", path), "is larger than 32 MiB", "up to 512 MiB")


def test_a_named_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.yaml")
    refused(run("preview", "-f", tmp_path / "pipe.yaml"), "is a named pipe", "-f -")
    refused(run("preview", "-f", tmp_path), "is a named pipe")


def test_a_device_is_refused() -> None:
    refused(run("preview", "-f", "/dev/zero"), "is not a regular file")


def test_links_that_lead_back_are_refused(tmp_path: Path) -> None:
    (tmp_path / "self.yaml").symlink_to(tmp_path / "self.yaml")
    refused(run("preview", "-f", tmp_path / "self.yaml"), "leads back to itself")
    folder = tmp_path / "folder"
    folder.mkdir()
    write(folder / "m.yaml", GOOD.read_bytes())
    (folder / "loop").symlink_to(folder)
    done = run("preview", "-R", "-f", folder)
    refused(done, "is a link back to a folder above it")
    assert done.err.count("error:") == 1


def test_a_link_that_leads_nowhere_is_told(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").symlink_to(tmp_path / "gone.yaml")
    refused(run("preview", "-f", tmp_path), "m.yaml: does not exist")


def test_a_folder_or_file_without_rights_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tests may run as root, whom no right is denied: the refusal is simulated."""

    def denied(self: Path) -> Iterator[Path]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", denied)
    refused(run("preview", "-f", tmp_path), f"{tmp_path}: may not be read")


def test_a_folder_without_manifests_names_the_flag_for_subfolders(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    write(tmp_path / "below" / "m.yaml", GOOD.read_bytes())
    refused(run("preview", "-f", tmp_path), "has no manifests", "add -R")
    assert run("preview", "-R", "-f", tmp_path, "--against", "none").code == 1


def test_standard_input_is_read(tmp_path: Path) -> None:
    done = run("preview", "-f", "-", "--against", "none", stdin=GOOD.read_bytes())
    assert "InferenceService team-a/churn (standard input:2)" in done.out
    refused(run("preview", "-f", "-", stdin=b""), "standard input: holds no objects")


def test_a_pipe_that_the_shell_opened_is_read() -> None:
    """``-f <(command)``"""
    reader, writer = os.pipe()
    os.write(writer, GOOD.read_bytes())
    os.close(writer)
    try:
        done = run("preview", "-f", f"/dev/fd/{reader}", "--against", "none")
    finally:
        os.close(reader)
    assert "InferenceService team-a/churn" in done.out


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A web server on loopback that has model.yaml."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            data = GOOD.read_bytes() if self.path == "/model.yaml" else b""
            self.send_response(200 if data else 404)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            return

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(5)


def test_urls_are_read_and_their_faults_told(site: str) -> None:
    done = run("preview", "-f", f"{site}/model.yaml", "--against", "none")
    assert "InferenceService team-a/churn" in done.out
    refused(run("preview", "-f", f"{site}/gone.yaml"), "answers 404")
    refused(run("preview", "-f", "http://127.0.0.1:1/m.yaml"), "cannot be reached")


def test_a_kustomization_needs_a_program_that_is_named_when_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused(run("preview", "-k", tmp_path), "needs kustomize or kubectl")
    program = write(tmp_path / "kubectl", f"#!/bin/sh\n[ $1 = kustomize ] && /bin/cat {GOOD}\n")
    program.chmod(0o755)
    done = run("preview", "-k", tmp_path, "--against", "none")
    assert "InferenceService team-a/churn" in done.out
    write(program, "#!/bin/sh\necho no kustomization.yaml >&2\nexit 1\n")
    refused(run("preview", "-k", tmp_path), "failed: no kustomization.yaml")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["preview"], "no input is given"),
        (["preview", "-f", GOOD, "-k", "."], "exclude each other"),
        (["preview", "-f", GOOD, "--compat", "worse"], "compat must start with"),
        (["preview", "-f", GOOD, "--compat", "kserve,+Q999"], "not a known difference"),
        (["preview", "-f", GOOD, "--assume", "luck"], "--assume cannot be 'luck'"),
        (["preview", "-f", GOOD, "--write", "all"], "--write has no part 'all'"),
        (["preview", "-f", GOOD, "--beside", "me"], "--beside cannot be"),
        (
            ["preview", "-f", GOOD, "--beside", "kserve", "--write", "routes,workloads"],
            "--beside kserve leaves the workloads to KServe",
        ),
        (["preview", "-f", GOOD, "--provider", "nginx"], "no provider 'nginx'"),
        (["preview", "-f", GOOD, "--templates", "/nowhere"], "no such folder"),
        (["preview", "-f", GOOD, "--against", "/nowhere"], "is not a folder"),
        (["preview", "-f", GOOD, "--set", "x"], "is not CONFIGMAP"),
        (["preview", "-f", GOOD, "--ignore", "IC9"], "is not the code of a finding"),
        (["preview", "-f", GOOD, "--config-namespace", "other"], "there is no ConfigMap other/"),
        (
            ["preview", "-f", GOOD, "--against", "cluster", "--request-timeout", "x"],
            "--request-timeout",
        ),
        (["render", "-f", GOOD, "--compare", "istio"], "needs two providers"),
        (["render", "-f", GOOD, "--compare", "istio,x"], "no provider 'x'"),
        (["explain", "ftp://a/"], "is not a URL"),
        (["explain", "http://a:b/"], "is not a URL"),
        (["explain", "http://a/", "-H", "x"], "-H cannot be"),
        (["explain", "http://a/", "-H", "a b: c"], "-H cannot be"),
        (["explain", "http://a b/"], "'a b' can be no host"),
        (["explain", "http://a/", "-H", "Host: a/b"], "'a/b' can be no host"),
        (["explain", "http://a/", "-X", "G ET"], "-X cannot be 'G ET'"),
        (["explain", "http://a/", "-d", "@/nowhere"], "the file cannot be read"),
        (["explain", "http://a/", "-d", "{}", "--answer", "x"], "--answer cannot be 'x'"),
        (["explain", "http://a/", "-d", "{}", "--answer", "x=@/nowhere"], "--answer @/nowhere"),
        (["explain", "http://a/", "--answer", "x=503"], "asked with a body"),
        (
            ["explain", ANIMALS, *GRAPHS, "-d", "{}", "--answer", "bredes=503"],
            "no step is called so",
        ),
    ],
)
def test_a_flag_that_cannot_be_is_told(words: list[str | Path], says: str) -> None:
    refused(run(*words), says)


def test_usage_mistakes_end_with_two() -> None:
    """A mistake must never look like a difference."""
    for words in (["nonsense"], ["preview", "--nonsense"], ["preview", "-o", "xml"], ["explain"]):
        done = run(*words)
        assert (done.code, done.out) == (2, "")
        assert "Error" in done.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["describe", "isvc", "model"], "An object is written KIND/NAME"),
        (["preview", "model.yaml"], "Files are named with -f"),
    ],
)
def test_a_word_too_many_is_told_with_what_is_meant(words: list[str], says: str) -> None:
    done = run(*words)
    assert done.code == 2
    assert says in done.err


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("timeout: 30", "timeout: soon", "spec.predictor.timeout"),
        ("trafficPercent: 10", "trafficPercent: ten", "trafficPercent"),
        ("trafficPercent: 10", "trafficPercent: 250", "trafficPercent"),
    ],
)
def test_a_field_that_cannot_be_is_told_with_its_line(
    tmp_path: Path, old: str, new: str, says: str
) -> None:
    """An object that admission refuses: 2, and for check an error finding and 1 (ux.md 8.3)."""
    text = GOOD.read_text().replace(old, new)
    path = write(tmp_path / "m.yaml", text)
    line = next(n for n, row in enumerate(text.splitlines(), 1) if new in row)
    done = run("preview", "-f", path, "--against", INPUTS / "base")
    assert done.code == 2
    assert says in done.err
    assert f"m.yaml:{line})" in done.err
    checked = run("check", "-f", path, "--against", "none")
    assert checked.code == 1
    assert says in checked.out


BROKEN_SHAPES = """\
apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: {name: v, namespace: d}
spec:
  hosts: 5
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: v, namespace: d}
spec:
  parentRefs: [q]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: v, namespace: d}
spec:
  rules: [1]
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  ingress: {ingressDomain: example.org}
"""


@pytest.mark.parametrize("command", ["preview", "render", "check", "explain http://a.b/"])
def test_objects_that_have_not_the_shape_of_their_kind_are_told(
    tmp_path: Path, command: str
) -> None:
    """No API server has checked a file: a rule must never meet text where a list belongs."""
    path = write(tmp_path / "m.yaml", BROKEN_SHAPES)
    refused(
        run(*command.split(), "-f", path, "--against", "none"),
        "m.yaml:5: spec.hosts: must be a list, not a whole number",
        "m.yaml:11: spec.parentRefs[0]: must be a mapping, not text",
        "m.yaml:17: spec.rules[0]: must be a mapping, not a whole number",
        "m.yaml:23: data.ingress: must be text, not a mapping",
    )


@pytest.mark.parametrize("command", ["preview", "render", "check"])
def test_what_a_file_holds_gives_a_terminal_no_orders(tmp_path: Path, command: str) -> None:
    """A title, a colour or a reversed text in a name is shown by its escape."""
    name = 'apiVersion: v1\nkind: Service\nmetadata: {name: "a\\e]0;b\\a"}\n'
    done = run(command, "-f", write(tmp_path / "m.yaml", name), "--against", "none")
    refused(done, "m.yaml:3: metadata.name: holds a character that no name may have")
    assert done.err.replace("\n", "").isprintable()
    value = GOOD.read_text().replace("deploymentMode: Standard", 'deploymentMode: "\\e[2J\\u202e"')
    done = run(command, "-f", write(tmp_path / "n.yaml", value), "--against", "none")
    assert "deploymentMode" in done.err + done.out
    assert (done.err + done.out).replace("\n", "").isprintable()


def test_names_that_no_server_takes_are_told(tmp_path: Path) -> None:
    text = "apiVersion: v1\nkind: Service\nmetadata:\n  name: %s\n  namespace: %s\n"
    path = write(
        tmp_path / "m.yaml", "---\n".join((text % ("a" * 300, "d"), text % ("a/b", "../x")))
    )
    refused(
        run("preview", "-f", path, "--against", "none"),
        "m.yaml:4: metadata.name: has 300 characters",
        "m.yaml:10: metadata.name: 'a/b' can be no name",
        "m.yaml:11: metadata.namespace: label '../x' must consist of",
    )


def test_lists_in_lists_and_lists_of_a_kind_are_unfolded(tmp_path: Path) -> None:
    text = """\
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: ServiceList
  items:
  - metadata: {name: a, namespace: d}
"""
    done = run("preview", "-f", write(tmp_path / "m.yaml", text), "--against", "none", "-q")
    assert "+ created Service d/a" in done.out
    nested = text.replace("- apiVersion: v1\n  kind: ServiceList\n  items:\n", "")
    broken = nested.replace("items:\n  - metadata: {name: a, namespace: d}", "items: {a: b}")
    refused(
        run("preview", "-f", write(tmp_path / "n.yaml", broken), "--against", "none"),
        "n.yaml:3: items: a List needs items",
    )


def test_every_fault_of_the_configuration_is_told_where_it_stands(tmp_path: Path) -> None:
    """The ConfigMap's lines, once each, however many services ask for it."""
    config = """\
---
apiVersion: v1
kind: ConfigMap
metadata: {name: inferenceservice-config, namespace: kserve}
data:
  ingress: "{"
  deploy: "[1]"
---
"""
    path = write(tmp_path / "m.yaml", config + GOOD.read_text())
    for command in ("preview", "render"):
        done = run(command, "-f", path, "--against", "none")
        assert done.code == 2
        where = "(ConfigMap kserve/inferenceservice-config"
        assert [line.count(where) for line in done.err.splitlines() if "error" in line] == [1, 1]
        assert "m.yaml:6) data.ingress: unable to parse ingress config json" in done.err
        assert "m.yaml:7) data.deploy: unable to parse deploy config json" in done.err
        assert "mend the key ingress of ConfigMap kserve/inferenceservice-config" in done.err


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("ingress", "{", "ingress"),
        ("ingress", '{"domainTemplate": "{{ .Name "}', "domainTemplate"),
        ("ingress", '{"ingressGateway": 3}', "ingress"),
    ],
)
def test_a_configuration_that_cannot_be_is_told(key: str, value: str, says: str) -> None:
    done = run(
        "preview",
        "-f",
        GOOD,
        "--against",
        INPUTS / "base",
        "--set",
        f"inferenceservice-config.data.{key}={value}",
    )
    assert done.code == 2
    assert says in done.err


def test_a_full_disk_is_no_internal_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("ingressctl.cli.output.Printer.data", full)
    done = run("preview", "-f", GOOD, "--against", GOOD.parent / "base", "-q")
    refused(done, "error: the system refuses: No space left on device")


def test_an_internal_fault_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """--debug shows the traceback; nothing else does."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("something impossible")

    monkeypatch.setattr(inputs, "read", broken)
    done = run("preview", "-f", GOOD)
    assert done.code == 2
    assert "internal fault RuntimeError: something impossible" in done.err


def test_an_entry_that_nobody_has_is_a_fault_with_those_that_are_known() -> None:
    words = ("explain", "http://x.example.com/", "-f", GOOD, "--against", INPUTS / "base")
    refused(run(*words, "--via", "nope"), "no object names the entry 'nope'; known are:", "mesh")


def test_a_form_that_is_none_is_told_without_the_exception() -> None:
    done = run("check", "-o", "xml")
    assert done.code == 2
    assert "'xml' is not one of" in done.err
    assert "Value error" not in done.err


def test_a_kind_that_is_misspelt_is_told_even_when_quiet(tmp_path: Path) -> None:
    text = GOOD.read_text().replace("kind: InferenceService", "kind: InferenceServise")
    bad = write(tmp_path / "m.yaml", text)
    done = run("preview", "-q", "-f", bad, "--against", "none")
    assert "did you mean InferenceService (serving.kserve.io)?" in done.err
    assert f"{bad}:" in done.err


@pytest.mark.parametrize("command", ["preview", "render", "explain", "up --dump"])
def test_a_model_without_any_runtime_is_told_what_to_add(tmp_path: Path, command: str) -> None:
    """With --assume ready the runtimes are assumed that KServe ships, which the text says."""
    told = "\nstatus: {conditions: [{type: Ready, status: 'False'}]}\n"
    model = write(tmp_path / "m.yaml", GOOD.read_text() + told)
    words = command.split()
    if command == "explain":
        words.append("http://churn-team-a.example.com/")
    over = () if words[0] == "up" else ("--against", "none")
    done = run(*words, "-f", model, *over)
    assert done.code == 2
    assert "no runtime found" in done.err
    assert "add the ServingRuntimes of the cluster to the input, or ask with --assume" in done.err
    assert "correct the component" not in done.err
    assert run(*words, "-f", model, *over, "--assume", "ready").code < 2
