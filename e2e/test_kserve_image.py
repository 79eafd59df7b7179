"""A real model server in a pod and real clients beside it: PyPI's kserve on both sides."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from e2e.bed import bed as beds
from e2e.bed.bed import Bed
from e2e.pods import images, objects
from e2e.pods.running import Pods

PARTS = (beds.CRDS, beds.CONTROLLERS)
SECONDS = 60
ASK = Path(images.__file__).with_name("kserve_ask.py")

MANAGE = """
import json, sys
import kserve
from kubernetes.client import V1ObjectMeta
model = kserve.V1beta1ModelSpec(
    model_format=kserve.V1beta1ModelFormat(name="sklearn"), storage_uri="s3://bucket/m"
)
spec = kserve.V1beta1InferenceServiceSpec(predictor=kserve.V1beta1PredictorSpec(model=model))
service = kserve.V1beta1InferenceService(
    api_version="serving.kserve.io/v1beta1",
    kind="InferenceService",
    metadata=V1ObjectMeta(name="m", namespace="default"),
    spec=spec,
)
client = kserve.KServeClient(config_file=sys.argv[1])
client.create(service)
print(json.dumps(client.get("m", namespace="default")["spec"]))
"""


def test_the_model_answers_by_every_protocol(bed: Bed, pods: Pods, kserve: Path) -> None:
    """REST in both versions and gRPC, through a Service with two ports."""
    bed.apply(objects.text(*_model("m")))
    bed.kubectl("wait", "--for=condition=Ready", "pod/m", f"--timeout={SECONDS - 5}s")
    address = bed.kubectl("get", "service", "m", "-o", "jsonpath={.spec.clusterIP}")
    answers = json.loads(_run(kserve, str(ASK), f"{address}:80", f"{address}:81", "m"))
    assert answers == {
        "v1": [[1, 2], [3, 4]],
        "v1 ready": True,
        "v2": [[1, 2], [3, 4]],
        "v2 ready": True,
        "grpc": [[1, 2], [3, 4]],
        "grpc ready": True,
    }


def test_its_client_speaks_to_the_api_server(bed: Bed, kserve: Path) -> None:
    """What it makes is there as it was made."""
    made = json.loads(_run(kserve, "-c", MANAGE, str(bed.kubeconfig)))
    assert made["predictor"]["model"]["storageUri"] == "s3://bucket/m"


def _run(python: Path, *words: str) -> str:
    ended = subprocess.run(
        [python, *words], capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip().splitlines()[-1]


def _model(name: str) -> list[objects.Object]:
    """A pod as KServe makes it for a runtime, and its Service."""
    ready = {"httpGet": {"path": f"/v2/models/{name}/ready", "port": 8080}}
    container = {
        "name": "kserve-container",
        "image": "kserve",
        "args": [f"--model_name={name}", "--http_port=8080", "--grpc_port=8081"],
        "readinessProbe": {**ready, "periodSeconds": 1, "failureThreshold": 1},
    }
    ports = [
        {"name": "http", "port": 80, "targetPort": 8080},
        {"name": "grpc", "port": 81, "targetPort": 8081},
    ]
    return [
        objects.pod(name, container),
        objects.service(name, selector={"app": name}, ports=ports),
    ]
