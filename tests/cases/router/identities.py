"""A certificate for the https stubs of a case, and who trusts it."""

from __future__ import annotations

import ssl
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True)
class Identity:
    """`serves` is the context of the stubs, `trusts` that of the router."""

    serves: ssl.SSLContext | None = None
    trusts: ssl.SSLContext | None = None

    @staticmethod
    def of(stubs: Mapping[str, Any]) -> Identity:
        """One for all https hosts of the stubs; without such hosts there is none."""
        parts = [urlsplit(url) for url in stubs]
        hosts = sorted({part.hostname or "" for part in parts if part.scheme == "https"})
        if not hosts:
            return Identity()
        key, certificate = _made(hosts)
        serves = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        with tempfile.NamedTemporaryFile() as file:
            file.write(key + certificate)
            file.flush()
            serves.load_cert_chain(file.name)
        return Identity(serves, ssl.create_default_context(cadata=certificate.decode()))


def _made(hosts: list[str]) -> tuple[bytes, bytes]:
    """A key and a certificate that it signs itself, as PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "steps of a case")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(hours=1))
        .add_extension(
            x509.SubjectAlternativeName([x509.DNSName(host) for host in hosts]), critical=False
        )
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return private, certificate.public_bytes(serialization.Encoding.PEM)
