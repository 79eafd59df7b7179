"""What `check` looks for: one file an area, each a function from the picture to findings."""
