"""The condition language of graphs: paths of gjson that exist, or do not.

`parse` gives a `Condition`; it raises `Unusable`, and `Condition.exists` raises `NotJson`.
"""

from ingressctl.api.gjson.conditions import Condition, Unusable, parse
from ingressctl.api.gjson.documents import NotJson

__all__ = ["Condition", "NotJson", "Unusable", "parse"]
