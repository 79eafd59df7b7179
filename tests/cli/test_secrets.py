"""Secrets on the command line: masked in every form, and their changes told."""

from __future__ import annotations

from pathlib import Path

from tests.cli.running import run


def test_a_changed_secret_is_a_change_that_no_difference_causes(tmp_path: Path) -> None:
    """Its values are masked; that they differ is not."""
    secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: d}\ndata: {k: %s}\n"
    held = tmp_path / "held"
    held.mkdir()
    (held / "s.yaml").write_text(secret % "aHVudGVyMQ==")
    wanted = tmp_path / "s.yaml"
    wanted.write_text(secret % "aHVudGVyMg==")
    done = run("preview", "-f", wanted, "--against", held, "-q")
    assert done.code == 1
    assert "*** (before)" in done.out
    assert "differences from KServe" not in done.out
    assert "aHVud" not in done.out
