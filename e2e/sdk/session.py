"""The side of the SDK, run by the interpreter that has kserve: a JSON request a line.

Each line is ``{"do": NAME, ...}`` and each answer ``{"told": ...}`` or ``{"fault": TEXT}``. What
kserve itself prints goes to standard error, so that standard output holds answers only.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Callable
from typing import Any

import kserve
import kubernetes.client
from kserve import InferenceGRPCClient, InferenceRESTClient, InferInput, InferRequest, RESTConfig

POLL_SECONDS = 0.05


class Session:
    """One client of a cluster, and of the gateway at `address`."""

    def __init__(self, kubeconfig: str) -> None:
        self._client = kserve.KServeClient(config_file=kubeconfig)

    def create(self, body: dict[str, Any]) -> Any:
        """A new InferenceService, as an object of the SDK."""
        return self._client.create(_model(body))["metadata"]["generation"]

    def patch(self, body: dict[str, Any]) -> Any:
        """A merge into the one of that name; the generation that it has then."""
        made = self._client.patch(body["metadata"]["name"], _model(body))
        return made["metadata"]["generation"]

    def delete(self, name: str, namespace: str) -> Any:
        """Delete it."""
        self._client.delete(name, namespace=namespace)

    def wait(self, name: str, namespace: str, seconds: float) -> Any:
        """Until it is Ready, looking often."""
        self._client.wait_isvc_ready(
            name,
            namespace=namespace,
            timeout_seconds=seconds,
            polling_interval=POLL_SECONDS,
        )

    def predict(self, protocol: str, address: str, host: str, model: str, values: list[Any]) -> Any:
        """What a model answers, asked once: nothing is tried again."""
        ask = _grpc if protocol == "grpc" else _rest
        return asyncio.run(ask(protocol, address, host, model, values))


def _model(body: dict[str, Any]) -> kserve.V1beta1InferenceService:
    spec = {key: _component(part) for key, part in body["spec"].items()}
    return kserve.V1beta1InferenceService(
        api_version="serving.kserve.io/v1beta1",
        kind="InferenceService",
        metadata=kubernetes.client.V1ObjectMeta(**body["metadata"]),
        spec=kserve.V1beta1InferenceServiceSpec(**spec),
    )


def _component(part: dict[str, Any]) -> kserve.V1beta1PredictorSpec:
    names = {kserve.V1beta1PredictorSpec.attribute_map[key]: key for key in _attributes()}
    return kserve.V1beta1PredictorSpec(**{names[key]: value for key, value in part.items()})


def _attributes() -> list[str]:
    return list(kserve.V1beta1PredictorSpec.attribute_map)


def _request(model: str, values: list[Any]) -> InferRequest:
    given = InferInput("x", [len(values)], "INT32", values)
    return InferRequest(model_name=model, infer_inputs=[given])


async def _rest(protocol: str, address: str, host: str, model: str, values: list[Any]) -> Any:
    client = InferenceRESTClient(RESTConfig(protocol=protocol, retries=0))
    is_v1 = protocol == "v1"
    data = {"instances": values} if is_v1 else _request(model, values)
    try:
        answer = await client.infer(
            f"http://{address}", data, model_name=model, headers={"Host": host}
        )
    finally:
        await client.close()
    return answer["predictions"] if is_v1 else answer.outputs[0].data


async def _grpc(_: str, address: str, host: str, model: str, values: list[Any]) -> Any:
    options = [("grpc.default_authority", host), ("grpc.enable_retries", 0)]
    async with InferenceGRPCClient(address, channel_args=options, retries=0) as client:
        answer = await client.infer(_request(model, values))
    return list(answer.outputs[0].data)


def main() -> None:
    """Answer until the input ends."""
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", buffering=1)
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    session = Session(sys.argv[1])
    answers.write(json.dumps({"told": "ready"}) + "\n")
    for line in sys.stdin:
        asked = json.loads(line)
        act: Callable[..., Any] = getattr(session, asked.pop("do"))
        try:
            told = {"told": act(**asked)}
        except Exception as fault:
            told = {"fault": f"{type(fault).__name__}: {fault}"}
        answers.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
