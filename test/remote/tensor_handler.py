import torch
from ts.torch_handler.base_handler import BaseHandler


class TensorHandler(BaseHandler):
    def preprocess(self, data):
        rows = [row.get("body") or row.get("data") for row in data]
        return torch.tensor(rows, device=self.device)  # inference and postprocess, which returns tolist(), are TorchServe's
