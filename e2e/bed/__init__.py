"""The bed: a real cluster out of ordinary packages, started and ended within seconds.

API server, controller manager, etcd, istiod, kubectl and helm are built from their Go modules
once a machine (building.py); Envoy comes with its wheel. `bed.Bed` starts the parts a test asks
for in a folder of its own. There are no nodes and no containers: what runs in pods is another
package's work.
"""
