"""Programs that carry requests: the router of InferenceGraphs."""
