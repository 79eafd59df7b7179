"""PyPI's kserve as a client: its SDK makes objects and waits, its clients ask models."""
