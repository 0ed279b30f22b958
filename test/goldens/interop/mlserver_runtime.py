"""The model `numbers` for MLServer: `archives/numbers` is its twin."""

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse, ResponseOutput


class Numbers(MLModel):
    async def load(self) -> bool:
        return True

    async def predict(self, payload: InferenceRequest) -> InferenceResponse:
        tensors = {tensor.name: NumpyCodec.decode_input(tensor) for tensor in payload.inputs}
        x, count = tensors["x"], tensors["count"]
        outputs = {"sums": (x.sum(1) * count).astype(np.float32), "twice": count * 2}
        wanted = [output.name for output in payload.outputs] if payload.outputs else list(outputs)
        return InferenceResponse(
            model_name=self.name,
            model_version=self.version,
            outputs=[self.output(name, outputs[name]) for name in wanted],
        )

    def output(self, name, tensor):
        """NumpyCodec would give a list of numbers a second axis."""
        datatype = "INT64" if tensor.dtype == np.int64 else "FP32"
        return ResponseOutput(name=name, shape=list(tensor.shape), datatype=datatype, data=tensor.tolist())
