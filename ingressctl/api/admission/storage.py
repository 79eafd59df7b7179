"""Where models lie: one URI, or several with a path each."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence

from ingressctl.api.admission import forms
from ingressctl.api.admission.refusals import Refusal
from ingressctl.api.models.inferenceservices import Component, Explainer, Predictor, StorageUri

STORAGE_VARIABLE = "STORAGE_URI"


def refusals(component: Component, path: str) -> Iterator[Refusal]:
    """Faults of `storageUris` of one component."""
    uris = component.storageUris
    if uris is None:
        return
    where = f"{path}.storageUris"
    if _single(component) is not None:
        text = "Setting both StorageURI and StorageURIs is not supported."
        yield Refusal(text, where, "leave one of the two")
    for place, uri in enumerate(uris):
        yield from _uri(uri, f"{where}[{place}]")
    yield from _paths(uris, where)


def _single(component: Component) -> str | None:
    """The one URI of the component, in a field or in a variable of the serving container."""
    if isinstance(component, Predictor) and forms.model_of(component) is not None:
        return forms.storage_uri(component)
    if isinstance(component, Explainer) and component.art is not None:
        return component.art.storageUri
    variables = (
        variable
        for container in component.containers or ()
        if container.name == forms.KSERVE_CONTAINER
        for variable in container.env or ()
    )
    return next((item.value or "" for item in variables if item.name == STORAGE_VARIABLE), None)


def _uri(storage: StorageUri, path: str) -> Iterator[Refusal]:
    mount = storage.mountPath
    if not storage.uri:
        yield Refusal("storage URI cannot be empty", f"{path}.uri", "write where the model lies")
    if mount == "/":
        text = "storage path cannot be empty"
    elif not mount.startswith("/"):
        text = f"storage path must be absolute: {mount}"
    elif ".." in mount:
        text = f"storage path cannot contain '..' for security reasons: {mount}"
    else:
        return
    yield Refusal(text, f"{path}.mountPath", "write an absolute path such as /mnt/models")


def _paths(uris: Sequence[StorageUri], path: str) -> Iterator[Refusal]:
    """All but claims are fetched into one folder; claims are mounted each by itself."""
    claims = [uri.mountPath for uri in uris if uri.uri.startswith("pvc://")]
    fetched = [uri.mountPath for uri in uris if not uri.uri.startswith("pvc://")]
    if len(fetched) <= 1 or not all(mount.startswith("/") for mount in fetched):
        return
    if len(set(claims)) < len(claims):
        text = "PVC storage paths must be unique"
        yield Refusal(text, path, "give each claim a mountPath of its own")
    if posixpath.commonpath(fetched) == "/":
        yield Refusal(
            "storage paths must have a common parent directory. Current paths: "
            f"[{' '.join(fetched)}] have no common parent beyond root",
            path,
            "put the paths under one folder, such as /mnt/models",
        )
