"""Keys and certificates between the controller and its Envoys, as a Secret holds them.

`renewed` is told what there is and gives what there is to be. Server and client hold for a
week. An authority holds for a year; some months before its end there is a second one beside
it, and both are trusted: it signs only when everybody has had a day to hear of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID, ObjectIdentifier

AUTHORITY, AUTHORITY_KEY = "ca.crt", "ca.key"
SERVER, CLIENT = "server", "client"

LIFE, BEFORE = timedelta(days=7), timedelta(days=1)
AUTHORITY_LIFE, AUTHORITY_BEFORE = timedelta(days=365), timedelta(days=90)
OVERLAP = timedelta(days=1)
SKEW = timedelta(hours=1)
"""Clocks of other machines may be late by so much."""

Data = Mapping[str, bytes]
_ONE_KEY = re.compile(rb"-----BEGIN [A-Z ]+-----.+?-----END [A-Z ]+-----\n?", re.DOTALL)
_EXTENDED: Mapping[str, ObjectIdentifier] = {
    SERVER: ExtendedKeyUsageOID.SERVER_AUTH,
    CLIENT: ExtendedKeyUsageOID.CLIENT_AUTH,
}


@dataclass(frozen=True, slots=True)
class Pair:
    """A certificate and its key."""

    certificate: x509.Certificate
    key: ec.EllipticCurvePrivateKey

    @property
    def chain(self) -> bytes:
        """The certificate as PEM."""
        return self.certificate.public_bytes(serialization.Encoding.PEM)

    @property
    def secret(self) -> bytes:
        """The key as PEM."""
        return self.key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )


def renewed(data: Data, names: Sequence[str], now: datetime) -> dict[str, bytes] | None:
    """All that is to be stored; None when it is what there is. The server has these names.

    What cannot be read is made anew.
    """
    known = [pair for pair in _authorities(data) if pair.certificate.not_valid_after_utc > now]
    trusted = known
    if not known or known[-1].certificate.not_valid_after_utc - now < AUTHORITY_BEFORE:
        trusted = [*known, _authority(now)]
    signer = _signer(trusted, now)
    made = {
        AUTHORITY: b"".join(pair.chain for pair in trusted),
        AUTHORITY_KEY: b"".join(pair.secret for pair in trusted),
    }
    for role in (SERVER, CLIENT):
        wanted = tuple(names) if role == SERVER else ()
        kept = _leaf(data, role)
        if kept is None or not _is_good(kept, signer, wanted, now):
            kept = _issued(role, wanted, signer, now)
        made |= {f"{role}.crt": kept.chain, f"{role}.key": kept.secret}
    return made if made != dict(data) else None


def is_whole(data: Data) -> bool:
    """Whether there is everything that a server needs."""
    return all(data.get(key) for key in (AUTHORITY, f"{SERVER}.crt", f"{SERVER}.key"))


def _signer(trusted: Sequence[Pair], now: datetime) -> Pair:
    """The newest that everybody has heard of."""
    heard = [
        pair for pair in trusted if now - pair.certificate.not_valid_before_utc >= OVERLAP + SKEW
    ]
    return heard[-1] if heard else trusted[0]


def _authorities(data: Data) -> Iterator[Pair]:
    """The oldest first."""
    try:
        certificates = x509.load_pem_x509_certificates(data.get(AUTHORITY, b""))
        keys = [_key(text) for text in _ONE_KEY.findall(data.get(AUTHORITY_KEY, b""))]
    except (ValueError, TypeError):
        return
    for certificate, key in zip(certificates, keys, strict=False):
        if certificate.public_key() == key.public_key():
            yield Pair(certificate, key)


def _leaf(data: Data, role: str) -> Pair | None:
    try:
        certificate = x509.load_pem_x509_certificate(data.get(f"{role}.crt", b""))
        key = _key(data.get(f"{role}.key", b""))
    except (ValueError, TypeError):
        return None
    return Pair(certificate, key) if certificate.public_key() == key.public_key() else None


def _key(text: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(text, None)
    if not isinstance(key, ec.EllipticCurvePrivateKey):
        raise TypeError("keys of ours are of elliptic curves")
    return key


def _is_good(pair: Pair, signer: Pair, names: tuple[str, ...], now: datetime) -> bool:
    certificate = pair.certificate
    if not certificate.not_valid_before_utc <= now < certificate.not_valid_after_utc - BEFORE:
        return False
    try:
        certificate.verify_directly_issued_by(signer.certificate)
    except (ValueError, TypeError, InvalidSignature):
        return False
    return _names(certificate) == names


def _names(certificate: x509.Certificate) -> tuple[str, ...]:
    try:
        found = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return ()
    return tuple(found.value.get_values_for_type(x509.DNSName))


def _authority(now: datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    # Its own name each, so that who looks for an issuer never takes the other one.
    name = _name(f"ingressctl xDS {now:%Y-%m-%dT%H:%M:%S}")
    draft = _draft(name, name, key, now, AUTHORITY_LIFE)
    draft = draft.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    draft = draft.add_extension(_usage(signs=True), critical=True)
    own = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    return Pair(draft.add_extension(own, critical=False).sign(key, hashes.SHA256()), key)


def _issued(role: str, names: tuple[str, ...], signer: Pair, now: datetime) -> Pair:
    key = ec.generate_private_key(ec.SECP256R1())
    draft = _draft(_name(f"ingressctl {role}"), signer.certificate.subject, key, now, LIFE)
    draft = draft.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    draft = draft.add_extension(_usage(signs=False), critical=True)
    purpose = x509.ExtendedKeyUsage([_EXTENDED[role]])
    draft = draft.add_extension(purpose, critical=False)
    theirs = x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.key.public_key())
    draft = draft.add_extension(theirs, critical=False)
    if names:
        found = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
        draft = draft.add_extension(found, critical=False)
    return Pair(draft.sign(signer.key, hashes.SHA256()), key)


def _draft(
    subject: x509.Name,
    issuer: x509.Name,
    key: ec.EllipticCurvePrivateKey,
    now: datetime,
    life: timedelta,
) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - SKEW)
        .not_valid_after(now + life)
    )


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _usage(*, signs: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=True,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
