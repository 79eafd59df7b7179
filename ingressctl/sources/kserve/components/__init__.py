"""The components phase of an InferenceService: runtimes, workloads, component status."""
