"""Gateways described by a folder of Jinja2 templates."""
