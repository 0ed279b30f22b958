import json

import torch
from ts.torch_handler.base_handler import BaseHandler


class IrisHandler(BaseHandler):
    def preprocess(self, data):
        rows = [row.get("data") or row.get("body") for row in data]
        rows = [json.loads(row) if isinstance(row, (str, bytes)) else row for row in rows]
        return torch.tensor([[row["length"], row["width"]] for row in rows], dtype=torch.float32)

    def postprocess(self, outputs):
        scores = torch.softmax(outputs, dim=1)
        return [{"species": self.mapping[str(int(row.argmax()))], "score": float(row.max())} for row in scores]
