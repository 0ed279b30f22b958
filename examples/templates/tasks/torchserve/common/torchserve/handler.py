"""The handler as TorchServe runs it. `src/digit-reader.worker.ts` is the same in TypeScript."""
import torch
from torchvision import transforms
from ts.torch_handler.image_classifier import ImageClassifier


class DigitReader(ImageClassifier):
    image_processing = transforms.Compose([
        transforms.Grayscale(),
        transforms.Resize((28, 28)),
        transforms.ToTensor(),
        transforms.Normalize((0.1307,), (0.3081,)),
    ])

    def postprocess(self, data):
        answers = []
        for scores in torch.softmax(data, dim=1):
            digit = int(scores.argmax())
            answers.append({"digit": digit, "even": digit % 2 == 0, "confidence": float(scores.max())})
        return answers
