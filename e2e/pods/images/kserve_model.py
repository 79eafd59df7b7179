"""The image `kserve`: a real ModelServer with a tiny model, run by the interpreter that has it.

The model answers each instance (v1) or input tensor (v2, also by gRPC) as it came, so that a
test needs no arithmetic to know what is right. Arguments are those of a KServe runtime.
"""

from __future__ import annotations

import argparse
from typing import Any

import kserve


class Mirror(kserve.Model):
    """Gives back what it was given."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.ready = True

    async def predict(self, payload: Any, headers: Any = None, *_: Any, **__: Any) -> Any:
        """The same values."""
        if isinstance(payload, dict):
            return {"predictions": payload["instances"]}
        outputs = [
            kserve.InferOutput(one.name, one.shape, one.datatype, one.data)
            for one in payload.inputs
        ]
        return kserve.InferResponse(payload.id or "", self.name, outputs)


def main() -> None:
    """Serve the models that are named, with the options of a KServe runtime."""
    parser = argparse.ArgumentParser(parents=[kserve.model_server.parser])
    args, _ = parser.parse_known_args()
    kserve.ModelServer().start([Mirror(args.model_name)])


if __name__ == "__main__":
    main()
