import numpy as np
from transformers import Swin2SRConfig, Swin2SRForImageSuperResolution, Swin2SRImageProcessor, pipeline

from common import answers, export_graph, photo, spread

CONFIG = {"image_size": 16, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 8, "mlp_ratio": 1.0, "upscale": 2, "upsampler": "pixelshuffledirect"}


def make():
    processor = Swin2SRImageProcessor()
    model = spread(Swin2SRForImageSuperResolution(Swin2SRConfig(**CONFIG)), scale=0.08)
    pipe = pipeline("image-to-image", model=model, image_processor=processor)
    example = processor(photo(29, 22), return_tensors="pt")["pixel_values"]
    # The exporter fixes the windows.
    export_graph("image-swin2sr", model, [processor], example, ["reconstruction"], fixed=True)
    requests = []
    for width, height in [(29, 22), (27, 17)]:
        whole = np.asarray(pipe(photo(width, height)))
        # The pipeline returns what the processor has padded too.
        pixels = whole[: height * 2, : width * 2]
        data = np.concatenate([pixels, np.full((*pixels.shape[:2], 1), 255)], -1)
        print(whole.shape, pixels.std(), pixels.min(), pixels.max())
        requests.append({"input": {"photo": [width, height]}, "answer": {"width": width * 2, "height": height * 2, "data": data.flatten()}})
    answers("image_to_image", [{"architecture": type(model).__name__, "repository": "image-swin2sr", "requests": requests}])
