"""Asks a model server by KServe's own clients; run by the interpreter that has kserve.

Arguments: HOST:PORT of REST, HOST:PORT of gRPC, the model's name. It prints what came back as
JSON, by protocol.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

import kserve

VALUES = [[1, 2], [3, 4]]


async def ask(rest: str, grpc: str, model: str) -> dict[str, Any]:
    """The same values by each protocol, as they come back."""
    told = kserve.InferInput("x", [2, 2], "INT32", [1, 2, 3, 4])
    request = kserve.InferRequest(model_name=model, infer_inputs=[told])
    url = f"http://{rest}"
    answers: dict[str, Any] = {}
    for protocol, data in (("v1", {"instances": VALUES}), ("v2", request)):
        config = kserve.RESTConfig(protocol=protocol)
        async with kserve.InferenceRESTClient(config) as client:
            answer = await client.infer(url, data, model_name=model)
            answers[protocol] = answer["predictions"] if protocol == "v1" else _values(answer)
            answers[f"{protocol} ready"] = await client.is_model_ready(url, model)
    async with kserve.InferenceGRPCClient(grpc) as client:
        answers["grpc"] = _values(await client.infer(request))
        answers["grpc ready"] = await client.is_model_ready(model)
    return answers


def _values(answer: kserve.InferResponse) -> list[Any]:
    (output,) = answer.outputs
    return output.as_numpy().tolist()


if __name__ == "__main__":
    print(json.dumps(asyncio.run(ask(*sys.argv[1:]))))
