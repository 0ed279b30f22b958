"""The gallery's digits in TorchServe: its own image classifier, with the same steps and the same ONNX file."""

import torch
from torchvision import transforms
from ts.torch_handler.image_classifier import ImageClassifier


class Digits(ImageClassifier):
    image_processing = transforms.Compose(
        [
            transforms.Grayscale(),
            transforms.Resize((28, 28)),
            transforms.ToTensor(),
            transforms.Normalize((0.1307,), (0.3081,)),
        ]
    )

    # The base class calls the model as a torch module, which a session of ONNX Runtime is not.
    def inference(self, data, *args, **kwargs):
        (pixels,) = self.model.get_inputs()
        (logits,) = self.model.run(None, {pixels.name: data.numpy()})
        return torch.from_numpy(logits)
