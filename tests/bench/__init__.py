"""Measurements of what the README promises. ``make bench`` runs them all."""
