"""Conditions of the usual shapes without decoding the document: keys, and one comparison.

pygjson finds one key or index at a time; the walk over several and the comparison are our
own, because its paths of several keys find what is not there (a key below another of its
own name), and its comparisons are not those of gjson.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from ingressctl.api.gjson.comparing import Test, test
from ingressctl.api.gjson.documents import MISSING, NotJson, TooNested, text_of, tree

if TYPE_CHECKING:
    from pygjson import Path, Result

try:
    import pygjson
except ImportError:  # pragma: no cover - platforms without a wheel
    pygjson = None  # type: ignore[assignment]

_SKIP = msgspec.json.Decoder(msgspec.Raw).decode
"""Reads a document to its end and keeps nothing; it knows a limit of depth, pygjson none."""

LEVELS = 10_000
"""Levels that are read where nothing is decoded, as in Go: pygjson goes ten times as deep."""


class Document:
    """Bytes that several conditions look at; what is made of them is made once."""

    __slots__ = ("_root", "_tree", "raw")

    def __init__(self, raw: bytes) -> None:
        self.raw = raw
        self._root: Result | None = None
        self._tree: Any = MISSING

    @property
    def root(self) -> Result:
        """The whole document, not decoded. Raises NotJson."""
        if self._root is None:
            self._root = _root(self.raw)
        return self._root

    @property
    def tree(self) -> Any:
        """The whole document, decoded. Raises NotJson."""
        if self._tree is MISSING:
            self._tree = tree(self.raw)
        return self._tree


Holds = Callable[[Document], bool]

_KEY = r"(?:0|[1-9A-Za-z_][A-Za-z0-9_-]*)"
_KEYS = rf"{_KEY}(?:\.{_KEY})*"
_WORD = r'[^()\[\]"\\~!=<>%\x00- ](?:[^()\[\]"\\]*[^()\[\]"\\\x00- ])?'
_COMPARED = (
    rf"(?P<asked>{_KEYS}) *(?P<op>==|!=|<=|>=|!%|=|<|>|%) *"
    rf'(?:(?P<word>{_WORD})|"(?P<quoted>[^"\\~][^"\\]*)")'
)
_KEYS_ONLY = re.compile(_KEYS)
_OF_DOCUMENT = re.compile(rf"\[@this\]\.#\({_COMPARED}\)")
_OF_LIST = re.compile(rf"(?P<before>{_KEYS})\.#\({_COMPARED}\)(?:\.(?P<behind>{_KEYS}))?")


def holds(text: str, *, typed: bool) -> Holds | None:
    """The condition as a function of the document; None for any other shape."""
    if pygjson is None:
        return None
    if text in ("@this", "@valid"):
        return lambda document: document.root is not None
    found = _OF_DOCUMENT.fullmatch(text)
    if found is not None:
        return _of_document(_path(found["asked"]), _test(found, typed=typed))
    found = _OF_LIST.fullmatch(text)
    if found is not None:
        asked, behind = _path(found["asked"]), _path(found["behind"] or "")
        return _of_list(_path(found["before"]), asked, _test(found, typed=typed), behind)
    if _KEYS_ONLY.fullmatch(text) is not None:
        return _of_keys(_path(text))
    return None


def _path(keys: str) -> tuple[Path, ...]:
    return tuple(map(pygjson.compile, keys.split("."))) if keys else ()


def _test(found: re.Match[str], *, typed: bool) -> Test:
    op = "=" if found["op"] == "==" else found["op"]
    return test(op, found["word"] or found["quoted"], typed=typed)


def _of_keys(path: tuple[Path, ...]) -> Holds:
    return lambda document: _found(document.root, path) is not None


def _of_document(asked: tuple[Path, ...], test: Test) -> Holds:
    def hold(document: Document) -> bool:
        found = _found(document.root, asked)
        return found is not None and _compares(found, test)

    return hold


def _of_list(
    before: tuple[Path, ...], asked: tuple[Path, ...], test: Test, behind: tuple[Path, ...]
) -> Holds:
    def hold(document: Document) -> bool:
        items = _found(document.root, before)
        if items is None or items.type_ is not list:
            return False
        for item in items:
            assert not isinstance(item, str)  # only an object gives its keys
            found = _found(item, asked)
            if found is not None and _compares(found, test):
                return _found(item, behind) is not None
        return False

    return hold


def _root(document: bytes) -> Result:
    """The whole document. Raises NotJson."""
    if not is_json(document, deep=True):
        if _is_too_nested(document):
            raise TooNested(f"nested deeper than {LEVELS} levels")
        raise NotJson("the document is no JSON")
    try:
        return pygjson.get_bytes(document, "@this")
    except UnicodeDecodeError:
        return pygjson.get(text_of(document), "@this")


def is_json(document: bytes, *, deep: bool = False) -> bool:
    """Whether the bytes are one JSON value, and none that is nested to the point of harm.

    With `deep` the nesting may be as Go takes it, which nobody here could decode. Bytes that
    are no UTF-8 may stand in texts.
    """
    try:
        _SKIP(document)
    except RecursionError:
        return deep and _is_deep_json(document)
    except msgspec.DecodeError:
        return b"\\u" in document and _is_decoded(document)
    return True


def in_utf8(document: bytes) -> bytes:
    """The document for whoever takes nothing else: the same bytes if they are UTF-8."""
    if document.isascii() or _is_utf8(document):
        return document
    return text_of(document).encode()


def _is_deep_json(document: bytes) -> bool:
    """Brackets in texts count too: a limit of the depth is safe, and an exact one is not needed."""
    if pygjson is None or document.count(b"[") + document.count(b"{") > LEVELS:
        return False
    return pygjson.validate(text_of(document))


def _is_too_nested(document: bytes) -> bool:
    try:
        _SKIP(document)
    except RecursionError:
        return True
    except msgspec.DecodeError:
        return False
    return False


def _is_decoded(document: bytes) -> bool:
    """For escapes of half a character, which JSON has and msgspec has not."""
    try:
        tree(document)
    except NotJson:
        return False
    return True


def _is_utf8(document: bytes) -> bool:
    try:
        document.decode()
    except UnicodeDecodeError:
        return False
    return True


def _found(value: Result, path: tuple[Path, ...]) -> Result | None:
    for part in path:
        if value.type_ is not dict and value.type_ is not list:
            return None
        value = value.get(part)
        if not value.exists():
            return None
    return value


def _compares(value: Result, test: Test) -> bool:
    kind = value.type_
    if kind is str:
        return test(value.value)
    if kind is bool:
        return test(value.to_bool())
    return (kind is int or kind is float) and test(value.to_float())
