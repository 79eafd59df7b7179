"""What counts as a change of files."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from ingressctl.proxy import follow


def changed(path: Path, act: object, *, recursive: bool = False) -> bool:
    before = follow.signature([path], recursive=recursive)
    assert callable(act)
    act()
    return before != follow.signature([path], recursive=recursive)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.yaml").write_text("a")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "b.yaml").write_text("b")
    return tmp_path


def test_writing_adding_and_removing_are_changes(folder: Path) -> None:
    assert changed(folder, lambda: (folder / "a.yaml").write_text("longer"))
    assert changed(folder, lambda: (folder / "new.yaml").write_text("n"))
    assert changed(folder, (folder / "new.yaml").unlink)
    assert not changed(folder, (folder / "a.yaml").read_text)


def test_a_file_replaced_by_another_of_equal_size_is_a_change(folder: Path) -> None:
    """As editors save: a new file is written and moved over the old one."""
    other = folder.parent / f"{folder.name}.tmp"
    other.write_text("a")
    stamp = (folder / "a.yaml").stat().st_mtime_ns
    os.utime(other, ns=(stamp, stamp))
    assert changed(folder / "a.yaml", lambda: other.replace(folder / "a.yaml"))


def test_subfolders_count_when_they_are_read(folder: Path) -> None:
    inside = folder / "sub" / "b.yaml"
    assert changed(folder, lambda: inside.write_text("longer"), recursive=True)
    assert not changed(folder, lambda: inside.write_text("longer still"), recursive=False)


def test_a_file_that_vanishes_is_a_change_and_no_error(folder: Path) -> None:
    assert changed(folder / "a.yaml", (folder / "a.yaml").unlink)


def test_links_that_lead_back_come_to_an_end(folder: Path) -> None:
    (folder / "sub" / "back").symlink_to(folder)
    assert follow.signature([folder], recursive=True)


async def test_what_changes_before_following_begins_is_a_change(tmp_path: Path) -> None:
    """Files are read first and followed afterwards: nothing falls between the two."""
    path = tmp_path / "a.yaml"
    path.write_text("one")
    seen = follow.signature([path], recursive=False)
    path.write_text("another")
    changes = follow.changes([str(path)], recursive=False, seen=seen)
    async with asyncio.timeout(10):
        await anext(changes)
    await changes.aclose()
