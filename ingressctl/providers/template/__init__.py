"""Gateways described by a folder of Jinja2 templates, for platform teams without Python.

A folder ``templates/providers/NAME/`` has `provider.yaml` (kinds, capabilities, how
readiness is read), `*.yaml.j2` (rendered for each unit of a route) and `read.yaml.j2`
(rendered for each object, back into rules). Whoever does the reading hands the texts over
as a `TemplateSet`; nothing here touches a file.
"""

from ingressctl.providers.template.definition import DefinitionFault, TemplateSet
from ingressctl.providers.template.provider import TemplateProvider, load
from ingressctl.providers.template.sandbox import TemplateFault

__all__ = ["DefinitionFault", "TemplateFault", "TemplateProvider", "TemplateSet", "load"]
