"""The condition language of graphs: paths of gjson that exist, or do not.

`parse` gives a `Condition`; it raises `Unusable`, and `Condition.exists` raises `NotJson`.
Several conditions of one document share what they make of it through a `Document`.
`is_json` tells whether bytes are a document at all, as quickly as can be, and `in_utf8` makes
of one that is what every reader takes.
"""

from ingressctl.api.gjson.conditions import Condition, Unusable, parse
from ingressctl.api.gjson.documents import NotJson, TooNested
from ingressctl.api.gjson.swift import Document, in_utf8, is_json

__all__ = [
    "Condition",
    "Document",
    "NotJson",
    "TooNested",
    "Unusable",
    "in_utf8",
    "is_json",
    "parse",
]
