"""Of the controller's own parts."""
