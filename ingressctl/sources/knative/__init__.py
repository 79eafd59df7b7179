"""Knative Services: the second hop of whatever KServe runs on Knative."""
