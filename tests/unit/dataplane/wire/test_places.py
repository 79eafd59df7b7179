"""Where a call goes: TLS, a mesh's sidecar, names with several addresses."""

from __future__ import annotations

import asyncio
import datetime
import ipaddress
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from ingressctl.dataplane.router import mesh
from ingressctl.dataplane.router.deadlines import Deadlines
from ingressctl.dataplane.router.pool import Place, Pool
from ingressctl.dataplane.router.ports import Target
from ingressctl.dataplane.router.resolving import Resolver
from tests.unit.dataplane.wire.programs import free_port
from tests.unit.dataplane.wire.sockets import of, received, target
from tests.unit.dataplane.wire.test_upstream import call, client, failure

PEM = serialization.Encoding.PEM


@pytest.fixture
def certified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A certificate for localhost that is trusted by SSL_CERT_FILE."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(
            x509.SubjectAlternativeName(
                [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
            ),
            critical=False,
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "step.pem"
    private = key.private_bytes(
        PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    file.write_bytes(private + made.public_bytes(PEM))
    (tmp_path / "roots.pem").write_bytes(made.public_bytes(PEM))
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "roots.pem"))
    return file


@asynccontextmanager
async def answering(certificate: Path | None = None) -> AsyncIterator[Target]:
    """A step that tells in which way it was called."""
    context = None
    if certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                await received(reader)
                writer.write(of(b"plain" if context is None else b"encrypted"))
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context)
    try:
        yield target(server.sockets[0].getsockname()[1], tls=True)
    finally:
        server.close()
        await asyncio.sleep(0.05)


async def test_a_certificate_that_is_trusted(certified: Path) -> None:
    async with answering(certified) as to, client(mesh_port=free_port()) as caller:
        for _ in range(3):
            assert (await call(caller, to)).body == b"encrypted"
        assert caller.open == 1


async def test_a_certificate_that_is_not_trusted(
    certified: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    async with answering(certified) as to, client(mesh_port=free_port()) as caller:
        kind, sent, text = await failure(caller, to)
        assert (kind, sent) == ("unreachable", False)
        assert "self-signed certificate" in text.replace("self signed", "self-signed")


@asynccontextmanager
async def sidecar(status: bytes) -> AsyncIterator[int]:
    """The administration port of one, which counts."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %b\r\n\r\n" % status)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()
        await asyncio.sleep(0.05)


async def test_with_a_sidecar_https_goes_out_plain() -> None:
    """F67: the sidecar encrypts; twice would be once too much."""
    async with sidecar(b"200 OK") as port, answering() as to, client(mesh_port=port) as caller:
        answers = await asyncio.gather(*(call(caller, to) for _ in range(5)))
        assert {answer.body for answer in answers} == {b"plain"}


async def test_any_other_answer_is_no_sidecar_and_is_asked_again(certified: Path) -> None:
    async with (
        sidecar(b"404 Not Found") as port,
        answering(certified) as to,
        client(mesh_port=port) as caller,
    ):
        assert (await call(caller, to)).body == b"encrypted"
        assert not caller._mesh._there
        assert caller._mesh._none_until == 0.0


async def test_a_refused_connection_is_none_for_a_moment() -> None:
    found = mesh.Mesh(free_port())
    assert not await found.there()
    assert found._none_until > asyncio.get_running_loop().time()
    found.close()


@pytest.mark.parametrize(
    ("authority", "port", "expected"),
    [(b"a", 443, 80), (b"a:443", 443, 443), (b"a:8443", 8443, 8443), (b"[::1]", 443, 80)],
)
def test_the_port_of_a_plain_call(authority: bytes, port: int, expected: int) -> None:
    secure = Target(host="a", port=port, path=b"/", authority=authority, tls=True)
    plain = mesh.in_plain(secure)
    assert (plain.port, plain.tls, plain.authority) == (expected, False, authority)


async def test_an_address_where_nobody_listens_is_passed_over(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def both(self: Resolver, host: str) -> list[str]:
        return ["127.0.0.2", "127.0.0.1"]

    monkeypatch.setattr(Resolver, "addresses", both)
    async with answering() as to, client() as caller:
        named = Target(host="step", port=to.port, path=b"/", authority=b"step", tls=False)
        for _ in range(4):  # each begins with another address
            answers = await asyncio.gather(*(call(caller, named) for _ in range(3)))
            assert [answer.body for answer in answers] == [b"plain"] * 3


async def test_addresses_are_taken_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    async def three(self: Resolver, host: str) -> list[str]:
        return ["10.0.0.1", "10.0.0.2", "10.0.0.3"]

    async def attempt(address: str, port: int) -> str:
        return address

    monkeypatch.setattr(Resolver, "addresses", three)
    deadlines = Deadlines(asyncio.get_running_loop())
    pool = Pool(Place("step", 80, None), Resolver(), deadlines, 1)
    taken = [await pool.reach(attempt, None) for _ in range(6)]
    assert sorted(taken[:3]) == ["10.0.0.1", "10.0.0.2", "10.0.0.3"]
    assert taken[3:] == taken[:3]


async def test_a_name_is_asked_for_once_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    failing = False
    loop = asyncio.get_running_loop()

    async def getaddrinfo(host: str, *_: Any, **__: Any) -> list[Any]:
        asked.append(host)
        await asyncio.sleep(0.01)
        if failing:
            raise socket.gaierror(-3, "try again")
        return [(2, 1, 6, "", ("10.0.0.1", 0)), (2, 1, 6, "", ("10.0.0.1", 0))]

    resolver = Resolver()
    monkeypatch.setattr(resolver, "_lookup", getaddrinfo)
    found = await asyncio.gather(*(resolver.addresses("a") for _ in range(5)))
    assert found == [["10.0.0.1"]] * 5
    assert asked == ["a"]
    assert await resolver.addresses("10.0.0.9") == ["10.0.0.9"]
    assert asked == ["a"]
    failing = True
    resolver._known["a"] = resolver._known["a"]._replace(until=loop.time() - 1)
    assert await resolver.addresses("a") == ["10.0.0.1"], "what it said last is still good"
    with pytest.raises(OSError, match="try again"):
        await resolver.addresses("b")
    resolver.close()
