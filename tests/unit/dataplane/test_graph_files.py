"""Files of graphs: whatever stands in them, or in their place, is refused in one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ingressctl.core.differences import BETTER
from ingressctl.dataplane.router import graphs


@pytest.mark.parametrize(
    "text",
    [
        b"nodes: &a {root: *a}",
        b"nodes: 2001-99-01",
        b"{a: " * 20_000,
        b"- " * 20_000,
        b"nodes: {root: {routerType: Splitter, steps: [{weight: %b}]}}" % (b"9" * 5000),
        b"nodes: {root: {routerType: Splitter, steps: [{serviceUrl: 'http://a/', weight: 0x%b}]}}"
        % (b"f" * 5000),
    ],
)
def test_no_text_is_an_internal_fault(text: bytes) -> None:
    with pytest.raises(graphs.Unfit):
        graphs.parse(text, BETTER, name="graph.yaml")


def test_only_regular_files_of_some_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "graph.json"
    file.write_bytes(b" " * graphs.MAX_BYTES)
    assert len(graphs.GraphFile(file).read()) == graphs.MAX_BYTES
    file.write_bytes(b" " * (graphs.MAX_BYTES + 1))
    with pytest.raises(graphs.Unfit, match="larger than 4 MiB"):
        graphs.GraphFile(file).read()
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path("/dev/zero")):
        with pytest.raises(graphs.Unfit, match="no regular file"):
            graphs.GraphFile(path).read()
