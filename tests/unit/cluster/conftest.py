"""An API server of memory, and a client of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from ingressctl.cluster.client import Client
from ingressctl.cluster.connection import Choice
from tests.apiserver import made
from tests.apiserver.server import ApiServer


@pytest_asyncio.fixture
async def server() -> AsyncIterator[ApiServer]:
    async with ApiServer() as running:
        made.base(running)
        yield running


@pytest.fixture
def kubeconfig(server: ApiServer, tmp_path: Path) -> Path:
    return server.kubeconfig(tmp_path / "kubeconfig")


@pytest_asyncio.fixture
async def client(kubeconfig: Path) -> AsyncIterator[Client]:
    async with Client(Choice(kubeconfig=str(kubeconfig)), seconds=5.0) as opened:
        yield opened
