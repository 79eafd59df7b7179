"""Real pods without a container engine: processes in network namespaces of their own.

`network` gives them addresses, Services and names; `kubelet` makes them what their Pod objects
say; `images` tells which program stands for an image. `python -m e2e.pods` runs all of it.
"""
