"""Each kind of match and rewrite, on a real Envoy and by the table."""

from __future__ import annotations

import pytest

from ingressctl.core import rewriting
from ingressctl.core.model import (
    Filter,
    HeaderMatch,
    Match,
    PathMatch,
    RewriteHost,
    RewritePath,
    SetHeaders,
)
from ingressctl.core.table import Hop, Request, TableMatch
from ingressctl.core.values import replace
from tests.envoy import makers
from tests.envoy.rig import Rig

HOST = "m.example.com"
PATHS = ("/", "/a", "/a/", "/a/b", "/ab", "/a//b", "/a.b", "/a/b?q=/a&x=%2F", "/A", "/x/a")
MATCHES = (
    Match(),
    Match(PathMatch("exact", "/a")),
    Match(PathMatch("exact", "/a/")),
    Match(PathMatch("prefix", "/a")),
    Match(PathMatch("prefix", "/a/")),
    Match(PathMatch("prefix", "/")),
    Match(PathMatch("regex", r"^/a(/.*)?$")),
    Match(PathMatch("regex", "/a")),
    Match(method="POST"),
    Match(headers=(HeaderMatch("X-A", "exact", "1"),)),
    Match(headers=(HeaderMatch("x-a", "prefix", "1"), HeaderMatch("x-b", "present"))),
    Match(headers=(HeaderMatch("x-a", "regex", "[0-9]+"),)),
)
HEADERS = ({}, {"x-a": "1"}, {"x-a": "12", "x-b": ""}, {"x-a": "x1"}, {"X-A": "1", "X-B": "y"})


async def test_matches_take_what_the_table_says(rig: Rig) -> None:
    """Every match on a host of its own, asked with every path, method and set of headers."""
    groups = (
        makers.group(f"m{number}.example.com", makers.to("m", matches=(match,)))
        for number, match in enumerate(MATCHES)
    )
    table = await rig.serve(makers.route("m", *groups))
    for number, match in enumerate(MATCHES):
        host = f"m{number}.example.com"
        asked = [("GET", path, {}) for path in PATHS] + [
            (method, "/a", headers) for method in ("GET", "POST") for headers in HEADERS
        ]
        for method, path, headers in asked:
            small = {name.lower(): value for name, value in headers.items()}
            request = Request(method, host, path, small, makers.PUBLIC.name)
            wanted = 200 if isinstance(table.answer(request), Hop) else 404
            said = f"{match} asked with {method} {path} {headers}"
            assert (await rig.ask(method, path, host, headers))[0] == wanted, said


REWRITES = [
    (PathMatch(kind, path), RewritePath(to, value, pattern))
    for kind, path in (
        ("prefix", "/a"),
        ("prefix", "/a/"),
        ("prefix", "/"),
        ("exact", "/a"),
        ("exact", "/a/"),
        ("regex", "/a.*"),
    )
    for to, value, pattern in (
        ("prefix", "/", ""),
        ("prefix", "/x", ""),
        ("prefix", "/x/", ""),
        ("full", "/y", ""),
        ("full", r"/y\1", ""),
        ("regex", r"/z\1", "^/a(.*)$"),
    )
]


@pytest.mark.parametrize("number", range(len(REWRITES)))
async def test_rewrites_make_what_the_model_says(rig: Rig, number: int) -> None:
    """The path that arrives is what core.rewriting says of the rule as it was written."""
    match, rewrite = REWRITES[number]
    rule = makers.to("m", matches=(Match(match),), filters=(rewrite,))
    table = await rig.serve(makers.route("m", makers.group(HOST, rule)))
    for path in PATHS:
        request = Request("GET", HOST, path, {}, makers.PUBLIC.name)
        answer = table.answer(request)
        status, seen = await rig.get(path, HOST)
        assert status == (200 if isinstance(answer, Hop) else 404), path
        if isinstance(answer, Hop):
            written = rewriting.apply(request, (rewrite,), TableMatch(Match(match)))[1]
            assert (seen["path"], answer.path) == (written, written), (match, rewrite, path)


async def test_headers_are_set_and_removed_and_the_host_rewritten(rig: Rig) -> None:
    filters: tuple[Filter, ...] = (
        RewriteHost("inner.example.com"),
        SetHeaders(
            (("KServe-Isvc-Name", "m"), ("X-Percent", "100%%{REQ}%")),
            ("x-secret",),
            (("x-more", "two"),),
        ),
    )
    split = replace(makers.split("m", 100), headers=(("X-Split", "m"),))
    rule = makers.rule("m", split, filters=filters)
    table = await rig.serve(makers.route("m", makers.group(HOST, rule)))
    sent = {"x-secret": "s", "kserve-isvc-name": "forged", "x-split": "forged", "x-more": "one"}
    status, seen = await rig.get("/", HOST, **sent)
    wanted = {
        "kserve-isvc-name": "m",
        "x-percent": "100%%{REQ}%",
        "x-split": "m",
        "x-more": "one,two",
    }
    assert (status, seen["host"]) == (200, "inner.example.com")
    assert wanted.items() <= seen["headers"].items()
    assert "x-secret" not in seen["headers"]
    (read,) = table.hosts[0].rules
    assert set(read.filters) == set(filters)
    assert read.splits[0].headers == split.headers
