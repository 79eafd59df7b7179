"""Targets of URLs: admission and the router agree on which of them can be called."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingressctl.api.admission.graphs import steps
from ingressctl.dataplane.router import addresses

PIECES = st.sampled_from(
    [
        "http://",
        "a",
        "..",
        ".",
        "ü" * 63,
        "x" * 64,
        "\u3002",
        "\ud800",
        ":0",
        "%zz",
        "%41",
        ":80",
        "/ü",
        "[::1",
        "@",
    ]
)


@given(st.lists(PIECES, max_size=6).map("".join).map("http://".__add__))
def test_what_admission_accepts_has_a_target(url: str) -> None:
    if steps.url_fault(url):
        with pytest.raises(addresses.BadUrl, match="its URL cannot be called: it"):
            addresses.target(url)
    else:
        assert addresses.target(url).authority.isascii()


@pytest.mark.parametrize(
    ("url", "host", "port", "authority"),
    [
        ("http://Iris.team-a/x", "iris.team-a", 80, b"Iris.team-a"),
        ("https://user@h:8443", "h", 8443, b"h:8443"),
        ("http://[::1]:8080/", "::1", 8080, b"[::1]:8080"),
        ("http://user@bücher.example:8080/", "xn--bcher-kva.example", 8080, None),
        (f"http://{'ü' * 50}:8080/", f"xn--tda{'a' * 49}", 8080, None),
    ],
)
def test_the_host_is_told_as_dns_knows_it(
    url: str, host: str, port: int, authority: bytes | None
) -> None:
    target = addresses.target(url)
    assert (target.host, target.port) == (host, port)
    assert target.authority == (authority or f"{host}:{port}".encode())


def test_a_location_that_is_no_url_leads_nowhere() -> None:
    assert addresses.redirected("http://a/x", "/y") == "http://a/y"
    with pytest.raises(addresses.BadUrl, match="is not a URL"):
        addresses.target(addresses.redirected("http://a/x", "http://[::1"))
