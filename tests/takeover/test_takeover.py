"""A cluster that runs KServe can be taken over without a surprise (design.md section 5)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ingressctl.cli import plugins
from ingressctl.core.differences import Compat
from ingressctl.core.settings import Settings
from ingressctl.core.world import World
from ingressctl.plan import manifests, overlay, preview
from ingressctl.plan.manifests import Document

FOLDERS = sorted(path.parent for path in Path(__file__).parent.glob("*/inferenceservices.yaml"))


def documents(path: Path) -> Iterator[Document]:
    parsed = manifests.parse(path.read_bytes(), path.name)
    assert not parsed.faults
    yield from parsed.documents


def preview_of(folder: Path, compat: str) -> preview.Preview:
    base = World.of(item.obj for path in folder.glob("*.yaml") for item in documents(path))
    written = documents(folder / "inferenceservices.yaml")
    return preview.preview(
        overlay.lay(base, written, namespace="default", named=False),
        Settings(compat=Compat.parse(compat)),
        now=datetime(2026, 12, 1, tzinfo=UTC),
        providers=plugins.providers(),
    )


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_nothing_changes_under_kserve(folder: Path) -> None:
    """The same names, hosts, matches, headers, weights and labels."""
    seen = preview_of(folder, "kserve")
    assert len(seen.laid.written) > 30
    assert not seen.refused
    assert not seen.faults
    assert [(change.action, change.ref) for change in seen.changes()] == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_change_under_better_carries_an_id(folder: Path) -> None:
    """Whoever takes over can read why, and switch each reason off."""
    seen = preview_of(folder, "better")
    changes = list(seen.changes())
    assert changes, "the folder holds services that differences touch"
    assert [change.ref for change in changes if not change.differences] == []
    assert sum(seen.by_difference().values()) >= len(changes)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_switching_the_named_differences_off_leaves_nothing(folder: Path) -> None:
    """The ids are the causes: without them no change is left."""
    named = preview_of(folder, "better").by_difference()
    compat = ",".join(("better", *(f"-{identity}" for identity in named)))
    assert list(preview_of(folder, compat).changes()) == []
