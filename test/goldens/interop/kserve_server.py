"""Models for KServe's Python server: `numbers` for the protocol v2, whose twin is `archives/numbers`; `echo` for v1, whose
twin is `test/node/workers/echo.js`.

    python kserve_server.py --http_port PORT --enable_grpc false
"""

import argparse

import numpy as np
from kserve import InferOutput, InferResponse, Model, ModelServer, model_server
from kserve.utils.utils import generate_uuid


class Numbers(Model):
    def __init__(self, name):
        super().__init__(name)
        self.ready = True

    async def get_input_types(self):
        return [
            {"name": "x", "datatype": "FP32", "shape": [-1, 3]},
            {"name": "count", "datatype": "INT64", "shape": [-1]},
        ]

    async def get_output_types(self):
        return [
            {"name": "sums", "datatype": "FP32", "shape": [-1]},
            {"name": "twice", "datatype": "INT64", "shape": [-1]},
        ]

    def predict(self, payload, headers=None, response_headers=None):
        tensors = {tensor.name: tensor.as_numpy() for tensor in payload.inputs}
        x, count = tensors["x"], tensors["count"]
        answers = {"sums": (x.sum(1) * count).astype(np.float32), "twice": count * 2}
        wanted = [output.name for output in payload.request_outputs or []] or list(answers)
        outputs = []
        for name in wanted:
            answer = answers[name]
            output = InferOutput(name, list(answer.shape), "FP32" if name == "sums" else "INT64")
            output.set_data_from_numpy(answer, binary_data=False)
            outputs.append(output)
        return InferResponse(
            payload.id or generate_uuid(),
            self.name,
            outputs,
            use_binary_outputs=payload.use_binary_outputs,
            requested_outputs=payload.request_outputs,
        )


class Echo(Model):
    def __init__(self):
        super().__init__("echo")
        self.ready = True

    def predict(self, payload, headers=None, response_headers=None):
        return {"predictions": [self.answer(row) for row in payload["instances"]]}

    def answer(self, row):
        fields = row if isinstance(row, dict) else {"body": row}
        return {name: {"text": value} if isinstance(value, str) else {"json": value} for name, value in fields.items()}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(parents=[model_server.parser])
    parser.parse_known_args()
    ModelServer().start([Numbers("numbers"), Numbers("backup"), Echo()])
