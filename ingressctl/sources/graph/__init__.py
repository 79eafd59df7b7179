"""InferenceGraphs: the router of each, its targets, its route, its status."""
