"""Gateways described by a folder of Jinja2 templates, for platform teams without Python.

A folder ``templates/providers/NAME/`` has `provider.yaml` (kinds, capabilities, how
readiness is read), `*.yaml.j2` (rendered for each unit of a route) and `read.yaml.j2`
(rendered for each object, back into rules). Whoever does the reading hands the texts over
as a `TemplateSet` (definition.py) and loads it (provider.py); nothing here touches a file.
Jinja2 takes longer to import than most commands take to answer, so nothing is imported here.
"""
