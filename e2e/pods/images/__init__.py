"""Programs that stand for container images, and the table that tells which stands for which."""
