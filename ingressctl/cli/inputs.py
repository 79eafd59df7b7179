"""Where manifests come from: files, folders, standard input, URLs, kustomizations.

Every path is read whole and bounded before anything is done with it, and every fault of
every path is told at once. What could block for ever (a FIFO, a device) or never end (a
link that leads back) is refused.
"""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from ingressctl.cli.problems import CommandFault, Problem
from ingressctl.plan import manifests
from ingressctl.plan.manifests import Document, Note

SUFFIXES = (".yaml", ".yml", ".json")
YAML_LIMIT = 32 << 20
JSON_LIMIT = 512 << 20
"""Bytes. A hand-written file is far smaller; lists of whole clusters come as JSON."""

URL_SECONDS = 15
KUSTOMIZE_SECONDS = 120
STDIN = "-"


@dataclass(slots=True)
class Sources:
    """What was read: objects in the order of the arguments, notices and problems."""

    documents: list[Document] = field(default_factory=list)
    notices: list[Note] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    texts: dict[str, bytes] = field(default_factory=dict)

    def problem(self, where: str, cause: str, remedy: str) -> None:
        """Adds a fault of one path."""
        self.problems.append(Problem(cause, remedy, where))


def read(files: Iterable[str], *, recursive: bool, kustomization: str = "") -> Sources:
    """All objects of these paths. Raises CommandFault with every fault that there is."""
    sources = Sources()
    for name in files:
        _read_one(name, recursive, sources)
    if kustomization:
        _parse(_kustomize(kustomization), kustomization, sources)
    if sources.problems:
        raise CommandFault(sources.problems)
    return sources


def read_folder(name: str) -> Sources:
    """The objects of a folder that stands for a cluster, with its subfolders."""
    if not Path(name).is_dir():
        raise CommandFault.of(
            f"{name!r} is not a folder", "give --against cluster, none or a folder of manifests"
        )
    return read([name], recursive=True)


def _read_one(name: str, recursive: bool, sources: Sources) -> None:
    try:
        if name == STDIN:
            _parse(_bounded(sys.stdin.buffer, "standard input"), "standard input", sources)
        elif name.startswith(("http://", "https://")):
            _parse(_download(name), name, sources)
        elif Path(name).is_dir():
            _read_folder(Path(name), recursive, sources)
        else:
            _parse(_read_file(Path(name)), name, sources)
    except CommandFault as fault:
        sources.problems.extend(fault.problems)
    except OSError as error:
        sources.problem(name, *_explained(error))


def _parse(data: bytes, name: str, sources: Sources, *, in_folder: bool = False) -> None:
    parsed = manifests.parse(data, name)
    sources.texts[name] = data
    sources.documents.extend(parsed.documents)
    sources.notices.extend(parsed.notices)
    for fault in parsed.faults:
        if in_folder and fault.text == manifests.EMPTY:
            sources.notices.append(fault)
            continue
        where = f"{fault.origin}: {fault.path}" if fault.path else str(fault.origin)
        sources.problem(where, fault.text, fault.remedy)


def _read_file(path: Path) -> bytes:
    """The bytes of a regular file, or of a pipe that the shell has opened (``<(...)``)."""
    mode = path.stat().st_mode
    piped = stat.S_ISFIFO(mode) and str(path).startswith(("/dev/fd/", "/proc/self/fd/"))
    if stat.S_ISFIFO(mode) and not piped:
        raise CommandFault.of(
            "is a named pipe, which could be waited for without end",
            f"pipe it in: cat {path} | ingressctl ... -f -",
            str(path),
        )
    if not (stat.S_ISREG(mode) or piped):
        raise CommandFault.of("is not a regular file", "give a file, a folder, or -", str(path))
    with path.open("rb") as stream:
        return _bounded(stream, str(path))


def _bounded(stream: BinaryIO, name: str) -> bytes:
    start = stream.read(4096)
    limit = JSON_LIMIT if start.lstrip()[:1] in (b"{", b"[") else YAML_LIMIT
    data = start + stream.read(limit - len(start) + 1)
    if len(data) > limit:
        text = f"is larger than {limit >> 20} MiB, the most that is read from one "
        kind = "JSON file" if limit == JSON_LIMIT else "YAML file"
        raise CommandFault.of(
            text + kind, f"split it, or give it as JSON (up to {JSON_LIMIT >> 20} MiB)", name
        )
    return data


def _explained(error: OSError) -> tuple[str, str]:
    """Cause and remedy of what the operating system said."""
    known = {
        "FileNotFoundError": ("does not exist", "check the path"),
        "PermissionError": ("may not be read", "give yourself the right to read it"),
    }
    if type(error).__name__ in known:
        return known[type(error).__name__]
    text = error.strerror or str(error)
    if "symbolic link" in text:
        return "is a link that leads back to itself", "remove the link"
    return f"cannot be read: {text}", "check the path"


def _read_folder(folder: Path, recursive: bool, sources: Sources) -> None:
    before = len(sources.documents), len(sources.problems)
    for path in _files(folder, recursive, (), sources):
        try:
            _parse(_read_file(path), str(path), sources, in_folder=True)
        except CommandFault as fault:
            sources.problems.extend(fault.problems)
        except OSError as error:
            sources.problem(str(path), *_explained(error))
    if before == (len(sources.documents), len(sources.problems)):
        remedy = "add -R for its subfolders" if not recursive else "check the path"
        sources.problem(str(folder), f"has no manifests ({', '.join(SUFFIXES)})", remedy)


def _files(
    folder: Path, recursive: bool, above: tuple[tuple[int, int], ...], sources: Sources
) -> Iterator[Path]:
    """Manifest files by name; a link that leads back to a folder above is a fault."""
    try:
        info = folder.stat()
        entries = sorted(folder.iterdir())
    except OSError as error:
        sources.problem(str(folder), *_explained(error))
        return
    here = (info.st_dev, info.st_ino)
    if here in above:
        sources.problem(str(folder), "is a link back to a folder above it", "remove the link")
        return
    for entry in entries:
        if entry.is_dir():
            if recursive:
                yield from _files(entry, recursive, (*above, here), sources)
        elif entry.suffix in SUFFIXES:
            yield entry


def _download(url: str) -> bytes:
    """The body behind a URL, bounded in time and size."""
    import urllib.error  # noqa: PLC0415 - costs start-up time and is rarely needed
    import urllib.request  # noqa: PLC0415

    try:
        with urllib.request.urlopen(url, timeout=URL_SECONDS) as answer:
            return _bounded(answer, url)
    except urllib.error.HTTPError as error:
        raise CommandFault.of(
            f"answers {error.code} {error.reason}", "check the URL", url
        ) from None
    except (urllib.error.URLError, TimeoutError) as error:
        reason = getattr(error, "reason", error)
        raise CommandFault.of(
            f"cannot be reached: {reason}",
            "check the network, or download it and give -f FILE",
            url,
        ) from None


def _kustomize(folder: str) -> bytes:
    """What kustomize, or kubectl's own copy of it, builds of a folder."""
    program = _kustomize_command()
    try:
        done = subprocess.run(
            [*program, folder], capture_output=True, timeout=KUSTOMIZE_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise CommandFault.of(
            f"{' '.join(program)} took more than {KUSTOMIZE_SECONDS} s",
            "run it by hand and pipe the result to -f -",
            folder,
        ) from None
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().replace("\n", "; ")
        raise CommandFault.of(
            f"{' '.join(program)} failed: {said}", "correct the kustomization", folder
        )
    return done.stdout


def _kustomize_command() -> list[str]:
    if shutil.which("kustomize"):
        return ["kustomize", "build"]
    if shutil.which("kubectl"):
        return ["kubectl", "kustomize"]
    raise CommandFault.of(
        "-k needs kustomize or kubectl, and neither is on the PATH",
        "install one of them, or give the built manifests with -f",
    )


def kubeconfig_exists() -> bool:
    """Whether a kubeconfig lies where kubectl would look for it."""
    named = os.environ.get("KUBECONFIG", "")
    paths = [Path(part) for part in named.split(os.pathsep) if part]
    return any(path.is_file() for path in paths or [Path.home() / ".kube" / "config"])
