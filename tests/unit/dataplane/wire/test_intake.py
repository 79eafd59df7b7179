"""What the server takes as a request, and what it refuses."""

from __future__ import annotations

import pytest

from ingressctl.dataplane.router.heads import Heads
from ingressctl.dataplane.router.intake import Intake, Known, Limits, Refusal, Taken
from tests.unit.dataplane.wire.sockets import post

HEAD = b"POST / HTTP/1.1\r\nHost: a\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


def fed(*pieces: bytes, limits: Limits | None = None, keep_hops: bool = False) -> Intake:
    intake = Intake(limits or Limits(), keep_hops=keep_hops)
    for piece in pieces:
        intake.feed(piece)
    return intake


def taken(*pieces: bytes, **more: object) -> Taken:
    (arrived,) = fed(*pieces, **more).arrived  # type: ignore[arg-type]
    assert isinstance(arrived, Taken), arrived
    return arrived


def refused(*pieces: bytes, limits: Limits | None = None) -> int:
    intake = fed(*pieces, limits=limits)
    (arrived,) = intake.arrived
    assert isinstance(arrived, Refusal), arrived
    assert intake.over
    return arrived.status


def test_a_request_is_the_same_however_it_is_cut() -> None:
    whole = CHUNKED + b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n"
    for size in range(1, len(whole)):
        pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
        request = taken(*pieces).request
        assert (request.method, request.target, request.body) == (b"POST", b"/", b"abcde")
        assert request.headers == [(b"host", b"a")]


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"Content-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n0\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\na",
        HEAD + b"Content-Length: 1, 1\r\n\r\na",
        HEAD + b"Content-Length: +1\r\n\r\na",
        HEAD + b"Content-Length: 0x1\r\n\r\na",
        HEAD + b"Content-Length:\r\n\r\n",
        HEAD + b"Content-Length: 99999999999999999999999\r\n\r\n",
        HEAD + b"Content-Length: " + b"0" * 5000 + b"1\r\n\r\na",
        HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: identity\r\n\r\n",
        b"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        HEAD + b"X: a\r\n b\r\n\r\n",
        HEAD + b"X: a\nY: b\r\n\r\n",
        HEAD + b"X: a\rY: b\r\n\r\n",
        HEAD + b"X: a\0b\r\n\r\n",
        HEAD + b"X : a\r\n\r\n",
        HEAD + b"X(: a\r\n\r\n",
        HEAD + b": a\r\n\r\n",
        HEAD + b"nothing\r\n\r\n",
        b"POST / HTTP/1.1\r\n X: a\r\nHost: a\r\n\r\n",
        b"POST / HTTP/1.1\nHost: a\n\n",
        b"POST / HTTP/1.1\r\n\r\n",
        HEAD + b"Host: b\r\n\r\n",
        b"POST / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n",
        b"post / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"FROB / HTTP/1.1\r\nHost: a\r\n\r\n",
        b"POST /\0 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        CHUNKED + b"x\r\n",
        CHUNKED + b"0x1\r\na\r\n0\r\n\r\n",
        CHUNKED + b"1 \r\na\r\n0\r\n\r\n",
        CHUNKED + b"1\na\r\n0\r\n\r\n",
        CHUNKED + b"1\r\nab\r\n0\r\n\r\n",
        CHUNKED + b"fffffffffffffffff\r\na\r\n0\r\n\r\n",
        CHUNKED + b"1;a=\nb\r\na\r\n0\r\n\r\n",
    ],
)
def test_what_two_readers_could_understand_differently_is_refused(data: bytes) -> None:
    assert refused(data) == 400
    pieces = [data[at : at + 1] for at in range(len(data))]
    assert refused(*pieces) == 400, "the same byte by byte"


@pytest.mark.parametrize("version", [b"HTTP/2.0", b"HTTP/0.9"])
def test_other_versions_are_refused(version: bytes) -> None:
    assert refused(b"POST / %b\r\nHost: a\r\n\r\n" % version) == 505


def test_after_a_refusal_nothing_more_is_taken() -> None:
    intake = fed(HEAD + b"X : a\r\n\r\n" + post(b"second"), post(b"third"))
    assert [type(item) for item in intake.arrived] == [Refusal]


def test_requests_before_a_bad_one_are_taken() -> None:
    first, second = fed(post(b"one") + b"nonsense\r\n\r\n").arrived
    assert isinstance(first, Taken)
    assert first.request.body == b"one"
    assert isinstance(second, Refusal)


def test_what_follows_the_last_request_is_dropped() -> None:
    intake = fed(post(b"one", b"Connection: close") + post(b"two"), post(b"three"))
    (first,) = intake.arrived
    assert isinstance(first, Taken)
    assert not first.keep_alive


def test_the_head_is_limited() -> None:
    small = Limits(head_bytes=1000)
    assert refused(HEAD + b"X: " + b"y" * 2000 + b"\r\n\r\n", limits=small) == 431
    endless = [HEAD, b"X: ", *([b"y" * 100] * 10)]
    assert refused(*endless, limits=small) == 431
    many = [HEAD, *(b"X-%d: y\r\n" % number for number in range(200))]
    assert refused(*many, limits=small) == 431
    assert refused(b"POST /" + b"y" * 2000 + b" HTTP/1.1\r\n", limits=small) in (414, 431)
    trailers = [CHUNKED, b"0\r\n", *(b"X-%d: y\r\n" % number for number in range(400))]
    assert refused(*trailers, limits=small) == 431


def test_the_body_is_limited_by_what_is_said_and_by_what_comes() -> None:
    small = Limits(body_bytes=10)
    assert taken(post(b"x" * 10), limits=small).request.body == b"x" * 10
    assert refused(HEAD + b"Content-Length: 11\r\n\r\n", limits=small) == 413
    assert refused(CHUNKED + b"6\r\nxxxxxx\r\n", b"6\r\nxx", b"xxxx", limits=small) == 413


def test_an_upgrade_is_ignored_and_its_body_kept() -> None:
    lines = (b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AA")
    data = post(b"body", *lines)
    for pieces in ([data], [data[:-2], data[-2:]], [bytes([byte]) for byte in data]):
        request = taken(*pieces).request
        assert request.body == b"body"
    chunked = CHUNKED[:-2] + b"Connection: upgrade\r\nUpgrade: x\r\n\r\n1\r\na\r\n0\r\n\r\n"
    assert taken(chunked).request.body == b"a"


def test_a_request_with_an_upgrade_is_as_without() -> None:
    asks = b"Upgrade: a"
    hops = (b"Connection: upgrade, X-Secret", b"X-Secret: 1", b"X-End: 2")
    plain, upgrading = taken(post(b"x", *hops)), taken(post(b"x", asks, *hops))
    assert upgrading.request.headers == plain.request.headers
    assert upgrading.keep_alive
    assert not taken(post(b"x", asks, b"Connection: upgrade, close")).keep_alive
    old = b"POST / HTTP/1.0\r\nUpgrade: a\r\nConnection: upgrade\r\nContent-Length: 1\r\n\r\nx"
    found = taken(old)
    assert (found.request.body, found.keep_alive, found.chunks) == (b"x", False, False)


@pytest.mark.parametrize("body", [b"", b"body"])
def test_thousands_of_upgrades_may_come_at_once(body: bytes) -> None:
    one = post(body, b"Upgrade: a", b"Connection: upgrade")
    arrived = fed(one * 3000 + post(b"last")).arrived
    assert len(arrived) == 3001
    assert [item.request.body for item in arrived if isinstance(item, Taken)] == [
        *([body] * 3000),
        b"last",
    ]


def test_only_a_head_that_brought_a_request_is_remembered() -> None:
    heads = Heads[Known]()
    intake = Intake(Limits(), heads=heads)
    intake.feed(post(b"", b"X: secret", target=b"/a"))
    intake.feed(b"\r\n\r\n")
    other = Intake(Limits(), heads=heads)
    other.feed(b"\r\n\r\n")
    assert not other.arrived


def test_fields_about_the_connection_stay_with_it() -> None:
    lines = (b"Connection: keep-alive, X-Hop", b"X-Hop: 1", b"TE: trailers", b"X-End: 2")
    assert dict(taken(post(b"", *lines)).request.headers) == {
        b"host": b"graph",
        b"x-end": b"2",
        b"content-length": b"0",
    }
    assert (b"x-hop", b"1") in taken(post(b"", *lines), keep_hops=True).request.headers


def test_a_client_may_wait_for_leave_to_send() -> None:
    intake = fed(HEAD + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n")
    assert intake.wants_continue
    assert not intake.wants_continue, "leave is given once"
    intake.feed(b"ab")
    assert not fed(post(b"x", b"Expect: 100-continue")).wants_continue, "the body is there"


def test_a_cut_body_is_only_given_when_asked_for() -> None:
    intake = fed(HEAD + b"Content-Length: 10\r\n\r\nabc")
    assert not intake.arrived
    cut = intake.cut()
    assert cut is not None
    assert cut.body == b"abc"
    assert fed(HEAD).cut() is None
