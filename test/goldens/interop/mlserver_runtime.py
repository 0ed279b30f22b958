"""The model `numbers` for MLServer: `archives/numbers` is its twin."""

import numpy as np
from mlserver import MLModel
from mlserver.codecs import NumpyCodec
from mlserver.types import InferenceRequest, InferenceResponse


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
            outputs=[NumpyCodec.encode_output(name, outputs[name]) for name in wanted],
        )
