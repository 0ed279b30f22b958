import json
import shutil

import numpy as np
import onnx
import torch
from transformers import Swin2SRConfig, Swin2SRForImageSuperResolution, Swin2SRImageProcessor, pipeline

from common import HERE, answers, export_graph, photo, spread, store, strip

CONFIG = {"image_size": 16, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 8, "mlp_ratio": 1.0, "upscale": 2, "upsampler": "pixelshuffledirect"}
SIZES = [(10, 9), (9, 8)]


def margin(model, processor):
    """How near to a half the numbers come that are rounded to colors: what engines differ in must not decide one."""
    values = [model(**processor(photo(*size), return_tensors="pt")).reconstruction.flatten() * 255 for size in SIZES]
    values = torch.cat(values)
    values = values[(values > -1) & (values < 256)]
    return (values - values.floor() - 0.5).abs().min().item()


class Compact(torch.nn.Module):
    """The network of realesr-general-x4v3, SRVGGNetCompact: convolutions, whose pixels are shuffled, added to the enlarged photo."""

    def __init__(self, features, layers, upscale):
        super().__init__()
        conv = lambda inputs, outputs: torch.nn.Conv2d(inputs, outputs, 3, 1, 1)
        inner = [part for _ in range(layers) for part in (conv(features, features), torch.nn.PReLU(features))]
        self.body = torch.nn.Sequential(conv(3, features), torch.nn.PReLU(features), *inner, conv(features, 3 * upscale**2), torch.nn.PixelShuffle(upscale))
        self.upscale = upscale

    def forward(self, images):
        return self.body(images) + torch.nn.functional.interpolate(images, scale_factor=self.upscale, mode="nearest")


COMPACT_SIDE, COMPACT_SCALE = 8, 2


def compact_row():
    """An archive, as these models have no repository that says how they are called."""
    repository = "image-realesrgan"
    image = photo(COMPACT_SIDE, COMPACT_SIDE)
    pixels = torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1)[None].float() / 255
    with torch.no_grad():
        for seed in range(1000):
            torch.manual_seed(seed)
            model = Compact(8, 2, COMPACT_SCALE).eval()
            colors = model(pixels)[0].permute(1, 2, 0) * 255
            # As for `margin`.
            if (colors - colors.floor() - 0.5)[(colors > -1) & (colors < 256)].abs().min() > 1e-3:
                break
        else:
            raise SystemExit("Each of these weights leaves a color to rounding.")
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "MAR-INF").mkdir(parents=True)
    torch.onnx.export(model, (pixels,), folder / "model.onnx", input_names=["input"], output_names=["output"], opset_version=17, dynamo=False)
    graph = onnx.load(folder / "model.onnx")
    strip(graph)
    store(graph, folder / "model.onnx")
    manifest = {"modelName": repository, "modelVersion": "1.0", "serializedFile": "model.onnx", "handler": "image_to_image"}
    (folder / "MAR-INF/MANIFEST.json").write_text(json.dumps({"model": manifest}, indent=2) + "\n")
    side = COMPACT_SIDE * COMPACT_SCALE
    data = np.concatenate([np.clip(np.rint(colors.numpy()), 0, 255).astype(int), np.full((side, side, 1), 255)], -1)
    requests = [{"input": {"photo": [COMPACT_SIDE, COMPACT_SIDE]}, "answer": {"width": side, "height": side, "data": data.flatten()}}]
    print(repository, seed, sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()))
    return {"architecture": "SRVGGNetCompact (Real-ESRGAN)", "repository": repository, "gpu": ["webgpu"], "requests": requests}


def make():
    processor = Swin2SRImageProcessor()
    with torch.no_grad():
        for seed in range(1000):
            model = spread(Swin2SRForImageSuperResolution(Swin2SRConfig(**CONFIG)), seed, scale=0.08)
            if margin(model, processor) > 1e-3:
                break
        else:
            raise SystemExit("Each of these weights leaves a color to rounding.")
    print("seed", seed)
    pipe = pipeline("image-to-image", model=model, image_processor=processor)
    example = processor(photo(*SIZES[0]), return_tensors="pt")["pixel_values"]
    # The exporter fixes the windows.
    export_graph("image-swin2sr", model, [processor], example, ["reconstruction"], fixed=True)
    requests = []
    for width, height in SIZES:
        whole = np.asarray(pipe(photo(width, height)))
        # The pipeline returns what the processor has padded too.
        pixels = whole[: height * 2, : width * 2]
        data = np.concatenate([pixels, np.full((*pixels.shape[:2], 1), 255)], -1)
        requests.append({"input": {"photo": [width, height]}, "answer": {"width": width * 2, "height": height * 2, "data": data.flatten()}})
    answers("image_to_image", [{"architecture": type(model).__name__, "repository": "image-swin2sr", "requests": requests}, compact_row()])
