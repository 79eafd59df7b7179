"""The keys of one bed: a CA, a server certificate, an administrator, keys of service accounts."""

from __future__ import annotations

import datetime
import ipaddress
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

LIFE = datetime.timedelta(days=2)
NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
SERVICE_ADDRESS = "10.96.0.1"
"""Of the Service kubernetes: the first address of apiserver.SERVICES."""
SIGNING = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=True,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)
"""Newer Pythons refuse a CA that does not say that it is one in this way too."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key, as files."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class Keys:
    """All key files of a bed."""

    ca: Path
    server: Pair
    admin: Pair
    accounts_private: Path
    accounts_public: Path


class Authority:
    """A CA that lives as long as the object; its own certificate is in `certificate`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("ingressctl e2e CA")
        made = _draft(self._name, self._name, self._key)
        for extension in (x509.BasicConstraints(ca=True, path_length=None), SIGNING):
            made = made.add_extension(extension, critical=True)
        own = x509.SubjectKeyIdentifier.from_public_key(self._key.public_key())
        made = made.add_extension(own, critical=False)
        self.certificate = folder / "ca.crt"
        self.certificate.write_bytes(_pem(made.sign(self._key, hashes.SHA256())))

    def issue(
        self, name: str, *, group: str | None = None, addresses: tuple[str, ...] = ()
    ) -> Pair:
        """A certificate for a client, or for a server reached by `addresses` and NAMES."""
        key = ec.generate_private_key(ec.SECP256R1())
        draft = _draft(_name(name, group), self._name, key)
        usage = ExtendedKeyUsageOID.CLIENT_AUTH
        if addresses:
            usage = ExtendedKeyUsageOID.SERVER_AUTH
            draft = draft.add_extension(_alternatives(addresses), critical=False)
        issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        for extension in (x509.ExtendedKeyUsage([usage]), issuer):
            draft = draft.add_extension(extension, critical=False)
        pair = Pair(self._folder / f"{name}.crt", self._folder / f"{name}.key")
        pair.certificate.write_bytes(_pem(draft.sign(self._key, hashes.SHA256())))
        pair.key.write_bytes(_private(key))
        return pair


def make(folder: Path, *, addresses: tuple[str, ...]) -> Keys:
    """Write all key files; the server is reached by `addresses`."""
    folder.mkdir(parents=True)
    authority = Authority(folder)
    accounts = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private, public = folder / "accounts.key", folder / "accounts.pub"
    private.write_bytes(_private(accounts))
    public.write_bytes(
        accounts.public_key().public_bytes(
            serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
        )
    )
    return Keys(
        ca=authority.certificate,
        server=authority.issue("server", addresses=(*addresses, SERVICE_ADDRESS)),
        admin=authority.issue("admin", group="system:masters"),
        accounts_private=private,
        accounts_public=public,
    )


def _draft(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + LIFE)
    )


def _name(common: str, group: str | None = None) -> x509.Name:
    parts = [x509.NameAttribute(NameOID.COMMON_NAME, common)]
    if group is not None:
        parts.append(x509.NameAttribute(NameOID.ORGANIZATION_NAME, group))
    return x509.Name(parts)


def _alternatives(addresses: tuple[str, ...]) -> x509.SubjectAlternativeName:
    numbers = [x509.IPAddress(ipaddress.ip_address(item)) for item in addresses]
    return x509.SubjectAlternativeName([*map(x509.DNSName, NAMES), *numbers])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _private(key: ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey) -> bytes:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
