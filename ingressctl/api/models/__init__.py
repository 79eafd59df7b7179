"""Pydantic models of the kinds that people write: the schema of admission and of crds/."""
