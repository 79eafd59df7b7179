"""Admission: what is filled in before an object is stored, and what is refused.

One set of rules for the webhook, `preview` and `check`. `admit` is what an API server
with our webhook does; `default` and `validate` are its two halves. All are pure.
"""

from ingressctl.api.admission.admitting import Admitted, admit
from ingressctl.api.admission.defaulting import default
from ingressctl.api.admission.refusals import Differs, Operation, Refusal
from ingressctl.api.admission.validation import validate

__all__ = ["Admitted", "Differs", "Operation", "Refusal", "admit", "default", "validate"]
