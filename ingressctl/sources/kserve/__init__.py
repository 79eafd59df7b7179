"""InferenceServices to routes. `reconcile.py` tells the story; each rule has its file."""
