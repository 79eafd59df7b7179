"""What DNS and Kubernetes accept as names (RFC 1035, RFC 1123). Every 63-character rule."""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

LABEL_LIMIT = 63
SUBDOMAIN_LIMIT = 253

_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_CONSISTS = (
    "must consist of lower case alphanumeric characters or '-', and must start and end "
    "with an alphanumeric character"
)


def label_fault(label: str) -> str:
    """Why `label` is no DNS-1123 label; "" if it is one."""
    if not _LABEL.fullmatch(label):
        return f"label {label!r} {_CONSISTS}"
    if len(label) > LABEL_LIMIT:
        return f"label {label!r} has {len(label)} characters: must be no more than 63 characters"
    return ""


def subdomain_fault(name: str) -> str:
    """Why `name` is no DNS-1123 subdomain; "" if it is one. Labels may be long."""
    if len(name) > SUBDOMAIN_LIMIT:
        return f"{len(name)} characters: must be no more than {SUBDOMAIN_LIMIT} characters"
    bad = next((label for label in name.split(".") if not _LABEL.fullmatch(label)), None)
    return "" if bad is None else f"label {bad!r} {_CONSISTS}"


@lru_cache(maxsize=65536)
def fqdn_fault(host: str) -> str:
    """Why `host` is no fully qualified domain name; "" if it is one.

    At least two labels of at most 63 characters; one trailing dot is tolerated.
    """
    bare = host[:-1] if host.endswith(".") else host
    fault = subdomain_fault(bare)
    if fault:
        return fault
    labels = bare.split(".")
    if len(labels) < 2:
        return "should be a domain with at least two segments separated by dots"
    return next(filter(None, map(label_fault, labels)), "")


def cut(name: str, limit: int = LABEL_LIMIT) -> str:
    """`name`, or its beginning with a hash of the whole, so that it fits `limit`."""
    if len(name) <= limit:
        return name
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{name[: limit - 9].rstrip('-.')}-{digest}"
