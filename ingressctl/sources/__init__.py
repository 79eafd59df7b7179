"""Kinds in: one room a family, each a pure reconcile function told in story files."""
