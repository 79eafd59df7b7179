"""The README's generated parts: each between markers, each from the program itself.

    <!-- generated: NAME -->  ...  <!-- end -->

NAME is a section below, ``file PATH``: a manifest of the tree, or ``run ARGS``: the output of
``ingressctl ARGS`` at 80 columns without colour, and its exit code unless it is 0, as a
console block. ``make readme`` writes them; a test holds them equal.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from ingressctl.cli import plugins, reference
from ingressctl.plan import tables

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PART = re.compile(r"<!-- generated: (?P<name>.+?) -->\n(?P<body>.*?)<!-- end -->", re.DOTALL)

SECTIONS: Mapping[str, Callable[[], str]] = {
    "always": tables.always_table,
    "differences": tables.differences_table,
    "providers": lambda: tables.providers_table(plugins.providers()),
    "reports": tables.reports_table,
    "rights": lambda: tables.rights_table(plugins.providers()),
}


def generate(name: str) -> str:
    """The text of one part."""
    if name.startswith("run "):
        return console(shlex.split(name.removeprefix("run ")))
    if name.startswith("file "):
        text = (ROOT / name.removeprefix("file ")).read_text("utf-8")
        return f"```yaml\n{text.rstrip()}\n```\n"
    return SECTIONS[name]()


def console(arguments: list[str]) -> str:
    """The command and what it prints, both streams as a person sees them."""
    kept = {key: value for key, value in os.environ.items() if not key.startswith("INGRESSCTL_")}
    ran = subprocess.run(
        [sys.executable, "-m", "ingressctl", *arguments],
        cwd=ROOT,
        env={**kept, "NO_COLOR": "1", "COLUMNS": "80", "KUBECONFIG": "/nonexistent"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
    shown = [f"$ ingressctl {shlex.join(arguments)}", ran.stdout.rstrip()]
    shown += [f"$ echo $?\n{ran.returncode}"] if ran.returncode else []
    return "```console\n" + "\n".join(shown) + "\n```\n"


def rewritten(text: str) -> str:
    """The README's text with every generated part made anew."""
    return PART.sub(
        lambda part: f"<!-- generated: {part['name']} -->\n{generate(part['name'])}<!-- end -->",
        text,
    )


if __name__ == "__main__":
    README.write_text(reference.rewritten(rewritten(README.read_text("utf-8"))), "utf-8")
