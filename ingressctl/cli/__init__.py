"""Thin commands: each parses its flags, asks the plan and prints."""
