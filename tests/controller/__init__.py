"""The controller as a whole on the API server of memory."""
