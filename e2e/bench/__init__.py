"""The controller with thousands of InferenceServices on a real API server, measured."""
