"""Runs the command line in this process, as a person would call it."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from ingressctl.cli import main


@dataclass(frozen=True)
class Done:
    """What a command printed and its exit code."""

    code: int
    out: str
    err: str


def run(*words: str | Path, stdin: bytes = b"") -> Done:
    """One command with 80 columns, without colour and outside any cluster."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "80")
        patch.setenv("NO_COLOR", "1")
        patch.setattr(sys, "stdout", out)
        patch.setattr(sys, "stderr", err)
        patch.setattr(sys, "argv", ["ingressctl"])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        code = _code(words)
    assert "Traceback" not in err.getvalue()
    return Done(code, out.getvalue(), err.getvalue())


def _code(words: tuple[str | Path, ...]) -> int:
    with pytest.raises(SystemExit) as ended:
        main.main([str(word) for word in words])
    code = ended.value.code
    return code if isinstance(code, int) else 0
