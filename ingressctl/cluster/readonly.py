"""A cluster's objects, read once: GET and LIST only, in pages.

A kind that the cluster does not serve is absent; one that may not be listed is named, and the
rest is answered all the same. Nothing is ever written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import aiohttp
from kubernetes.aio.client.api_client import ApiClient

from ingressctl.api.refs import Kind, Raw
from ingressctl.cluster import answers
from ingressctl.cluster.answers import FORBIDDEN, NOT_FOUND, Answered
from ingressctl.cluster.connection import Choice, Connection, Unusable, connect
from ingressctl.cluster.reader import Reader, version_of
from ingressctl.plan.kinds import Resource

AT_ONCE = 8

HOME = "."
"""Stands for the namespace that a person chose, else that of the context; no name is so."""


@dataclass(frozen=True, slots=True)
class Question:
    """A kind to list, everywhere or in some namespaces (`HOME` among them)."""

    resource: Resource
    namespaces: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Refused:
    """A list that may not be read (or watched): of a namespace, or "" for all of them.

    `instead` is the namespace that was read in place of all, "" where none could be.
    """

    resource: Resource
    namespace: str
    reason: str
    instead: str = ""
    verb: str = "list"


@dataclass(frozen=True, slots=True)
class Answer:
    """Objects, kinds that are not served, lists that may not be read."""

    objects: tuple[Raw, ...]
    absent: frozenset[Kind]
    refused: tuple[Refused, ...]
    namespace: str
    host: str


@dataclass(frozen=True, slots=True)
class Found:
    """What one question found: objects, and what of it may not be read."""

    objects: tuple[Raw, ...] = ()
    refused: tuple[Refused, ...] = ()
    absent: bool = False


def read(
    questions: Iterable[Question], choice: Choice, *, seconds: float | None, home: str = ""
) -> Answer:
    """The answers to all questions, within `seconds` in all (None: no limit).

    `home` is the namespace that a person chose. Who may not list a kind everywhere gets what
    is there.

    Raises Unusable when the cluster cannot be reached or knows nobody by our credentials.
    """
    return asyncio.run(_read(tuple(questions), choice, seconds, home))


async def _read(
    questions: tuple[Question, ...], choice: Choice, seconds: float | None, home: str
) -> Answer:
    connection = await connect(choice)
    try:
        async with asyncio.timeout(seconds):
            return await _ask(questions, choice, connection, home)
    except TimeoutError:
        host = connection.configuration.host
        raise Unusable(f"the cluster at {host} did not answer within {seconds:g} s") from None
    except (aiohttp.ClientError, OSError, Answered) as fault:
        raise unusable(fault, connection) from None


def unusable(fault: Exception, connection: Connection) -> Unusable:
    """What a person is told where a cluster cannot be asked."""
    host = connection.configuration.host
    if isinstance(fault, Answered):
        return Unusable(f"the cluster at {host} answers {fault.status}: {fault.message}")
    return Unusable(f"the cluster at {host} cannot be reached: {answers.told(fault)}")


async def _ask(
    questions: tuple[Question, ...], choice: Choice, connection: Connection, home: str
) -> Answer:
    home = home or connection.namespace or "default"
    async with ApiClient(configuration=connection.configuration) as client:
        reader = Reader(client, choice)
        served = await reader.served()
        limit = asyncio.Semaphore(AT_ONCE)

        async def one(question: Question) -> Found:
            async with limit:
                return await _answer(reader, question, served, home)

        tried = await asyncio.gather(*map(one, questions), return_exceptions=True)
    found = tuple(_or_raise(item) for item in tried)
    pairs = tuple(zip(questions, found, strict=True))
    return Answer(
        tuple(obj for item in found for obj in item.objects),
        frozenset(asked.resource.identity for asked, item in pairs if item.absent),
        tuple(refused for item in found for refused in item.refused),
        connection.namespace,
        str(connection.configuration.host),
    )


def _or_raise(item: Found | BaseException) -> Found:
    """What was found. The first fault is told once every question has come to its end."""
    if isinstance(item, BaseException):
        raise item
    return item


async def _answer(
    reader: Reader, question: Question, served: Mapping[str, frozenset[str]] | None, home: str
) -> Found:
    """All objects that a question asks for, and what stands in the way. Raises Answered."""
    resource = question.resource
    version = version_of(resource, served)
    if not version:
        return Found(absent=True)
    spaces = [home if space == HOME else space for space in question.namespaces] or [""]
    objects: list[Raw] = []
    refused: list[Refused] = []
    for space in spaces:
        try:
            objects += await reader.all_of(resource, version, space)
        except Answered as fault:
            if fault.status == NOT_FOUND:
                return Found(absent=True)
            if fault.status != FORBIDDEN:
                raise
            instead = await _at_home(reader, resource, version, "" if space else home)
            objects += instead or ()
            read = home if instead is not None else ""
            refused.append(Refused(resource, space, fault.message, read))
    return Found(tuple(objects), tuple(refused))


async def _at_home(reader: Reader, resource: Resource, version: str, home: str) -> list[Raw] | None:
    """What somebody who may not look everywhere may see at home; None if nothing."""
    if not (home and resource.namespaced):
        return None
    try:
        return await reader.all_of(resource, version, home)
    except Answered as fault:
        if fault.status != FORBIDDEN:
            raise
        return None
