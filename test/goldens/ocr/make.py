"""Writes test/models/ocr.golden.json: what PaddleOCR's pipeline reads in the sample photos; and geometry.json: single steps of it, by OpenCV and Clipper.

    pip install numpy onnxruntime opencv-python-headless pyclipper
    npm install; python test/goldens/ocr/make.py
"""

import json
from pathlib import Path

import cv2
import numpy as np

import reference

HERE = Path(__file__).parent
ROOT = HERE.parent.parent.parent


def rounded(values, digits=4):
    return np.round(np.asarray(values, float), digits).tolist()


def geometry():
    rng = np.random.default_rng(7)
    rectangles, offsets, warps, resizes, maps = [], [], [], [], []
    for index in range(12):
        points = rng.integers(0, 90, (rng.integers(3, 40), 2)).astype(np.int32)
        box, side = reference.mini_box(points.reshape(-1, 1, 2))
        rectangles.append({'points': points.tolist(), 'box': rounded(box), 'side': round(float(side), 4)})
        expanded = reference.unclip(box)
        offsets.append({'box': rounded(box, 6), 'expanded': [list(map(int, point)) for point in expanded[0]]})
    image = rng.integers(0, 256, (40, 60, 3), np.uint8)
    image = cv2.GaussianBlur(image, (5, 5), 1)
    for box in ([[5, 6], [50, 3], [53, 20], [4, 24]], [[20, 0], [30, 2], [28, 38], [17, 36]], [[-0.0, 0], [59, 0], [59, 39], [0, 39]], [[2, 30], [40, 31], [40, 35], [2, 34]]):
        line = reference.crop(image, np.float32(box))
        warps.append({'box': box, 'dims': list(line.shape), 'data': line.flatten().tolist()})
    for width, height in ((32, 32), (61, 17), (30, 20), (7, 48)):
        resizes.append({'width': width, 'height': height, 'data': cv2.resize(image, (width, height)).flatten().tolist()})
    for index in range(6):
        prediction = np.zeros((48, 64), np.float32)
        for _ in range(4):
            center, size, angle = rng.uniform((8, 8), (56, 40)), rng.uniform((8, 4), (30, 12)), rng.uniform(-50, 50)
            cv2.fillPoly(prediction, [cv2.boxPoints((tuple(center), tuple(size), angle)).astype(np.int32)], float(rng.uniform(0.5, 1)))
        prediction = cv2.GaussianBlur(prediction, (5, 5), 1.2)
        prediction[rng.random(prediction.shape) < 0.01] = 0
        thousandths = np.round(prediction * 1000)
        prediction = (thousandths / 1000).astype(np.float32)
        boxes = reference.sort_boxes(reference.filter_boxes(reference.boxes_of(prediction, 300, 180), 180, 300))
        maps.append({'thousandths': thousandths.astype(int).flatten().tolist(), 'boxes': rounded(boxes)})
    text = {'image': image.flatten().tolist(), 'rectangles': rectangles, 'offsets': offsets, 'warps': warps, 'resizes': resizes, 'maps': maps}
    (HERE / 'geometry.json').write_text(json.dumps(text, separators=(',', ':')) + '\n')


def photos():
    reader = reference.Reader()
    answers = {}
    for path in sorted((ROOT / 'public/models/ocr/samples').iterdir()):
        image = cv2.imread(str(path))
        answers[path.name] = {'size': [image.shape[1], image.shape[0]], 'lines': reader.read(image)}
        for line in answers[path.name]['lines']:
            line['score'] = round(line['score'], 4)
            print(path.name, line)
    (ROOT / 'test/models/ocr.golden.json').write_text(json.dumps(answers, ensure_ascii=False, indent=1) + '\n')


def write_safetensors(path, tensors, metadata):
    """https://github.com/huggingface/safetensors: the length of the header, the header, the data."""
    header, data = {'__metadata__': metadata}, b''
    for name, tensor in tensors.items():
        header[name] = {'dtype': 'F32', 'shape': list(tensor.shape), 'data_offsets': [len(data), len(data) + tensor.nbytes]}
        data += tensor.astype('<f4').tobytes()
    text = json.dumps(header, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, 'little') + text + data)


def examples():
    """The golden examples of the archive's nodes: a part of a sample photo, as each model gets it."""
    reader = reference.Reader()
    photo = cv2.imread(str(ROOT / 'public/models/ocr/samples/tea.jpg'))
    part = cv2.resize(photo[100:230, 90:380], (160, 64)).astype(np.float32)
    detected = ((part / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).astype(np.float32).transpose(2, 0, 1)[None]
    line = reference.crop(photo, np.float32([[114, 135], [353, 117], [357, 179], [118, 196]]))
    nodes = {'detect': (reader.detector, detected), 'orient': (reader.classifier, reference.line_tensor(cv2.rotate(line, cv2.ROTATE_180), 192)[None]), 'recognize': (reader.recognizer, reference.line_tensor(line, 192)[None])}
    for node, (session, feed) in nodes.items():
        output = reader.run(session, feed)
        stride = 1 + output.size // 4096
        name = session.get_outputs()[0].name
        tensors = {f'inputs/{session.get_inputs()[0].name}': feed, f'outputs/{name}': output.flatten()[::stride] if stride > 1 else output}
        metadata = {f'outputs/{name}': json.dumps({'stride': stride, 'dims': list(output.shape)})} if stride > 1 else {}
        write_safetensors(ROOT / f'public/models/ocr/{node}/golden.safetensors', tensors, metadata)
        print(node, feed.shape, output.shape, output.max())


geometry()
examples()
photos()
