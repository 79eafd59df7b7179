"""The chart's Envoy: a real one starts with its bootstrap and is served over mutual TLS.

Only addresses and folders of the bootstrap are others here than in a pod. In front of our xDS
server stands an end of TLS that wants to see a certificate, as the controller does.
"""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import ssl
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import yaml

from e2e import charts
from e2e.bed import ports
from e2e.bed.certificates import Authority
from ingressctl.providers.envoy import snapshot
from ingressctl.proxy import bootstrap, envoy, xds

VALUES = {"providers": ["envoy"], "gateway": {"enabled": True}}
HOST = f"ingressctl-xds.{charts.NAMESPACE}.svc"
KNOWN = "localhost"
"""A name that the bed's certificates are good for."""
SECONDS = 30


@pytest.fixture(autouse=True, scope="module")
def _helm_is_here() -> None:
    charts.need_helm()


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return _authority(tmp_path / "authority")


def _authority(folder: Path) -> Authority:
    folder.mkdir()
    return Authority(folder)


class Place:
    """A pod's folders, and the ports in use."""

    def __init__(self, folder: Path, authority: Authority) -> None:
        self.folder = folder
        self.xds, self.health = ports.free(2)
        self.bootstrap, self.certificates = folder / "bootstrap", folder / "certificates"
        self.bootstrap.mkdir()
        self.certificates.mkdir()
        for name, text in self._texts().items():
            (self.bootstrap / name).write_text(text)
        self.put("ca.crt", authority.certificate)
        client = authority.issue("client")
        self.put("client.crt", client.certificate)
        self.put("client.key", client.key)

    def put(self, name: str, source: Path) -> None:
        (self.certificates / name).write_bytes(source.read_bytes())

    def _texts(self) -> dict[str, str]:
        config = charts.one(charts.rendered(VALUES), "ConfigMap", "ingressctl-gateway")
        return {name: self._here(text) for name, text in config["data"].items()}

    def _here(self, text: str) -> str:
        for old, new in (
            ("/etc/ingressctl/bootstrap", str(self.bootstrap)),
            ("/etc/ingressctl/certificates", str(self.certificates)),
            ("/tmp/admin.sock", str(self.folder / "admin.sock")),
            (f"address: {HOST}", "address: 127.0.0.1"),
            (HOST, KNOWN),
            ("port_value: 18000", f"port_value: {self.xds}"),
            ('address: "::"', "address: 127.0.0.1"),
            ("port_value: 8081", f"port_value: {self.health}"),
            ("ipv4_compat: true", "ipv4_compat: false"),
        ):
            text = text.replace(old, new)
        return text

    def arguments(self) -> list[str]:
        """The container's, with the folders of this place."""
        deployment = charts.one(charts.rendered(VALUES), "Deployment", "ingressctl-gateway")
        (container,) = deployment["spec"]["template"]["spec"]["containers"]
        return [self._here(word) for word in container["args"]]


@pytest.fixture
def place(authority: Authority) -> Iterator[Place]:
    directory = envoy.make_directory()  # short enough for a socket
    yield Place(directory, authority)
    shutil.rmtree(directory, ignore_errors=True)


@contextlib.asynccontextmanager
async def running(place: Place) -> AsyncIterator[None]:
    process = await asyncio.create_subprocess_exec(
        envoy.binary(), *place.arguments(), "--concurrency", "1", "--log-level", "error"
    )
    try:
        yield
    finally:
        process.kill()
        await process.wait()


@contextlib.asynccontextmanager
async def controller(place: Place, authority: Authority) -> AsyncIterator[list[str]]:
    """Serves xDS behind TLS; yields the names of the clients that it admitted."""
    server = xds.Server(lambda refusal: pytest.fail(f"Envoy refuses {refusal}"))
    server.publish(snapshot.resources((), port=ports.free(1)[0]))
    socket = place.folder / "xds.sock"
    await server.start(f"unix:{socket}")
    admitted: list[str] = []
    pair = authority.issue("server", addresses=("127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    context.load_verify_locations(authority.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    context.set_alpn_protocols(["h2"])

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        subject = writer.get_extra_info("peercert")["subject"]
        admitted.extend(value for part in subject for key, value in part if key == "commonName")
        inner_reader, inner_writer = await asyncio.open_unix_connection(socket)
        await asyncio.gather(_copy(reader, inner_writer), _copy(inner_reader, writer))

    outer = await asyncio.start_server(pass_on, "127.0.0.1", place.xds, ssl=context)
    try:
        yield admitted
    finally:
        outer.close()
        await server.stop()


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, ssl.SSLError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def ask(place: Place, path: str) -> tuple[int, str]:
    url = f"http://127.0.0.1:{place.health}{path}"
    async with aiohttp.ClientSession() as client, client.get(url) as answer:
        return answer.status, await answer.text()


async def ask_admin(place: Place, path: str) -> str:
    """From inside of the pod."""
    connector = aiohttp.UnixConnector(str(place.folder / "admin.sock"))
    async with (
        aiohttp.ClientSession(connector=connector) as client,
        client.get(f"http://admin{path}") as answer,
    ):
        return await answer.text()


async def until(what: Callable[[], Any]) -> None:
    async with asyncio.timeout(SECONDS):
        while True:
            with contextlib.suppress(aiohttp.ClientError):
                if await what():
                    return
            await asyncio.sleep(0.05)


async def test_it_is_ready_once_the_controller_has_served_it(
    place: Place, authority: Authority
) -> None:
    async def ready() -> bool:
        return await ask(place, "/ready") == (200, "LIVE\n")

    async with running(place), controller(place, authority) as admitted:
        await until(ready)
        assert set(admitted) == {"client"}
        status, text = await ask(place, "/stats/prometheus")
        assert status == 200
        assert "envoy_cluster_upstream_cx_total" in text
        assert (await ask(place, "/config_dump"))[0] == 404
        assert (await ask(place, "/stats"))[0] == 404


async def test_a_controller_of_another_authority_is_not_listened_to(
    place: Place, tmp_path: Path
) -> None:
    """Nor does it become ready: no port is open before the first configuration."""
    stranger = _authority(tmp_path / "stranger")

    async def refused() -> bool:
        text = await ask_admin(place, "/stats?filter=cluster.xds.ssl.fail_verify")
        return any(int(line.rpartition(" ")[2]) for line in text.splitlines())

    async with running(place), controller(place, stranger) as admitted:
        await until(refused)
        assert await ask_admin(place, "/ready") == "PRE_INITIALIZING\n"
        with pytest.raises(aiohttp.ClientConnectionError):
            await ask(place, "/ready")
        assert not admitted


async def test_a_renewed_certificate_is_taken_without_a_restart(
    place: Place, authority: Authority, tmp_path: Path
) -> None:
    """The kubelet puts a new folder in the place of the old one; here files are moved."""
    renewed = _authority(tmp_path / "renewed")
    client = renewed.issue("again")

    async def ready() -> bool:
        return (await ask(place, "/ready"))[0] == 200

    async with running(place):
        async with controller(place, authority):
            await until(ready)
        for name, source in (
            ("ca.crt", renewed.certificate),
            ("client.crt", client.certificate),
            ("client.key", client.key),
        ):
            place.put(f"{name}.new", source)
            (place.certificates / f"{name}.new").rename(place.certificates / name)
        async with controller(place, renewed) as admitted:

            async def back() -> bool:
                return bool(admitted)

            await until(back)
            assert set(admitted) == {"again"}


def test_the_bootstrap_knows_what_up_tells_its_envoy() -> None:
    """What the one Envoy needs to be told beside its sockets, the other needs as well."""
    config = charts.one(charts.rendered(VALUES), "ConfigMap", "ingressctl-gateway")
    given = yaml.safe_load(config["data"]["envoy.yaml"])
    for key, wanted in bootstrap.bootstrap(Path("/")).items():
        if key not in ("node", "admin", "static_resources", "dynamic_resources"):
            assert _without_reports(given[key]) == wanted
        if key == "dynamic_resources":
            ads = given[key]["ads_config"]
            (service,) = ads["grpc_services"]
            del service["envoy_grpc"]["retry_policy"]
            assert ads == wanted["ads_config"]


def _without_reports(value: Any) -> Any:
    """`up` deletes nothing, so it need not know of requests under way."""
    if isinstance(value, dict):
        return {key: item for key, item in value.items() if key != "load_stats_config"}
    return value
