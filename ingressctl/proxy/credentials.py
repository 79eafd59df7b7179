"""TLS of the ADS server: clients must have a certificate, and ours changes while we serve."""

from __future__ import annotations

import asyncio

import grpc


class Credentials:
    """The last certificate that was given. `known` is set once there is one."""

    def __init__(self) -> None:
        self.known = asyncio.Event()
        self._now: grpc.ServerCertificateConfiguration | None = None
        self._fresh: grpc.ServerCertificateConfiguration | None = None

    def renew(self, authority: bytes, certificate: bytes, key: bytes) -> None:
        """PEM texts: whom we trust, and what we are. New connections see them."""
        self._now = self._fresh = grpc.ssl_server_certificate_configuration(
            [(key, certificate)], root_certificates=authority
        )
        self.known.set()

    def of_server(self) -> grpc.ServerCredentials:
        """For a port; it asks at every handshake, from a thread of its own."""
        first, self._fresh = self._now, None
        return grpc.dynamic_ssl_server_credentials(
            first, self._changed, require_client_authentication=True
        )

    def _changed(self) -> grpc.ServerCertificateConfiguration | None:
        """The certificate if it is another than the last time."""
        fresh, self._fresh = self._fresh, None
        return fresh
