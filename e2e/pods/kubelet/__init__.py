"""A kubelet whose containers are processes: one story a file, `serving` begins them all.

Left out, because no test of routes needs it: images' file systems, resources and their limits,
tokens of service accounts, logs and exec by the API server, changes of mounted ConfigMaps.
"""
