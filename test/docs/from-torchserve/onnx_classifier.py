import torch
from ts.torch_handler.image_classifier import ImageClassifier


class OnnxClassifier(ImageClassifier):
    def inference(self, data):
        [images] = self.model.get_inputs()  # self.model is a session of onnxruntime
        return torch.from_numpy(self.model.run(None, {images.name: data.numpy()})[0])
