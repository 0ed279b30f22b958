"""The rows of instance_segmenter for models that find boxes first: the heads of YOLO's segmentation on a small backbone, and torchvision's Mask R-CNN.

YOLO's answers are those of the published formulas, without Ultralytics' code: the sum of prototypes (YOLACT, https://arxiv.org/abs/1904.02689,
section 3.2), without the letterbox, interpolated to the photo, cropped to the box. Mask R-CNN's masks are pasted by torchvision.
"""
import json
import shutil
import sys
import types

sys.modules.setdefault("torchvision._meta_registrations", types.ModuleType("torchvision._meta_registrations"))

import numpy as np
import onnx
import onnxruntime
import torch
from PIL import Image
from torchvision.models.detection import MaskRCNN
from torchvision.models.detection.anchor_utils import AnchorGenerator
from torchvision.models.detection.faster_rcnn import FastRCNNPredictor, TwoMLPHead
from torchvision.models.detection.mask_rcnn import MaskRCNNHeads, MaskRCNNPredictor
from torchvision.models.detection.roi_heads import paste_masks_in_image
from torchvision.ops import MultiScaleRoIAlign, batched_nms

from common import HERE, MAX_BYTES, photo, store, stored_bytes, strip

LABELS = ["cat", "dog", "sea"]
SIDE = 64
PROTOTYPES = 32
STRIDES = (8, 16, 32)
BINS = 16
# The letterbox's margins are whole pixels of the prototypes, which are a quarter of the input.
PHOTOS = [(64, 48), (48, 64), (128, 64)]
LETTERBOX = [{"letterbox": [SIDE, SIDE]}, "toTensor"]


def runs_of(mask):
    """Pairs of a start and a length, row by row."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], mask.flatten().astype(int), [0]])))
    return np.stack([edges[::2], edges[1::2] - edges[::2]], -1).flatten()


class Yolo(torch.nn.Module):
    """Three maps, of strides 8 to 32, with a head each: boxes, scores and coefficients; and prototypes of stride 4."""

    def __init__(self, version, final=False):
        super().__init__()
        self.version, self.final = version, final
        layer = lambda inputs, outputs: torch.nn.Conv2d(inputs, outputs, 3, 2, 1)
        self.stem, self.first = layer(3, 8), layer(8, 12)
        self.stages = torch.nn.ModuleList([layer(12, 16), layer(16, 16), layer(16, 16)])
        self.proto = torch.nn.Conv2d(12, PROTOTYPES, 3, 1, 1)
        columns = {"v8": 4 * BINS + len(LABELS), "v5": 3 * (5 + len(LABELS) + PROTOTYPES)}[version]
        self.heads = torch.nn.ModuleList(torch.nn.Conv2d(16, columns + (PROTOTYPES if version == "v8" else 0), 1) for _ in STRIDES)

    def forward(self, images):
        act = torch.nn.functional.silu
        quarter = act(self.first(act(self.stem(images))))
        features, tables = quarter, []
        for stage, head, stride in zip(self.stages, self.heads, STRIDES):
            features = act(stage(features))
            tables.append((self.distances if self.version == "v8" else self.anchors)(head(features), stride))
        table = torch.cat(tables, 1)
        if self.final:
            table = self.best(table)
        elif self.version == "v8":
            table = table.transpose(1, 2)
        return table, self.proto(quarter)

    def cells(self, side, middle):
        axis = torch.arange(side, dtype=torch.float32) + middle
        y, x = torch.meshgrid(axis, axis, indexing="ij")
        return torch.stack([x, y], -1)

    def distances(self, maps, stride):
        """Distributions of the distances from a cell's middle to the four sides (https://arxiv.org/abs/2006.04388), in strides."""
        side = SIDE // stride
        values = maps.flatten(2).transpose(1, 2)
        bins = values[..., : 4 * BINS].reshape(1, side * side, 4, BINS).softmax(-1)
        # As theirs, the mean is a convolution.
        weights = torch.arange(BINS, dtype=torch.float32).reshape(1, BINS, 1, 1)
        sides = torch.nn.functional.conv2d(bins.permute(0, 3, 2, 1), weights).reshape(1, 4, side * side)
        left, top, right, bottom = (one.squeeze(1) for one in sides.split(1, 1))
        x, y = self.cells(side, 0.5).reshape(1, -1, 2).unbind(-1)
        center = [x + (right - left) / 2, y + (bottom - top) / 2]
        boxes = torch.stack([*center, left + right, top + bottom], -1) * stride
        scores = values[..., 4 * BINS : 4 * BINS + len(LABELS)].sigmoid()
        return torch.cat([boxes, scores, values[..., 4 * BINS + len(LABELS) :]], -1)

    def anchors(self, maps, stride):
        """Three anchors for each cell: center (2σ − 0.5 + cell) · stride, size (2σ)² · anchor (https://github.com/ultralytics/yolov5/issues/471)."""
        side = SIDE // stride
        values = maps.reshape(1, 3, 5 + len(LABELS) + PROTOTYPES, side, side).permute(0, 1, 3, 4, 2)
        sigmoid = values[..., : 5 + len(LABELS)].sigmoid()
        center = (sigmoid[..., :2] * 2 - 0.5 + self.cells(side, 0)) * stride
        anchors = torch.tensor([[1.0, 1.5], [2.0, 1.0], [1.5, 2.5]]).reshape(1, 3, 1, 1, 2) * stride
        rows = torch.cat([center, (sigmoid[..., 2:4] * 2) ** 2 * anchors, sigmoid[..., 4:], values[..., 5 + len(LABELS) :]], -1)
        return rows.reshape(1, -1, 5 + len(LABELS) + PROTOTYPES)

    def best(self, table):
        """The twelve best, as graphs without suppression have them: corners, score, class, coefficients."""
        scores, classes = table[..., 4 : 4 + len(LABELS)].max(-1)
        scores, order = scores.topk(12, dim=1)
        take = lambda values: values.gather(1, order.unsqueeze(-1).expand(-1, -1, values.shape[-1]))
        center, size = take(table[..., :2]), take(table[..., 2:4])
        classes = classes.gather(1, order).float()
        return torch.cat([center - size / 2, center + size / 2, scores.unsqueeze(-1), classes.unsqueeze(-1), take(table[..., 4 + len(LABELS) :])], -1)


def letterboxed(image):
    scale = min(SIDE / image.width, SIDE / image.height)
    width, height = round(image.width * scale), round(image.height * scale)
    left, top = (SIDE - width) // 2, (SIDE - height) // 2
    canvas = Image.new("RGB", (SIDE, SIDE), (114, 114, 114))
    canvas.paste(image.resize((width, height), Image.BILINEAR), (left, top))
    pixels = torch.from_numpy(np.asarray(canvas).copy()).permute(2, 0, 1).float() / 255
    return pixels[None], scale, (left, top, width, height)


def proposals(version, final, table):
    """Corners in pixels of the input, scores, classes and coefficients of each box."""
    if final:
        return table[:, :4], table[:, 4], table[:, 5].long(), table[:, 6:]
    rows = table.T if version == "v8" else table
    first = 4 if version == "v8" else 5
    scores = rows[:, first : first + len(LABELS)] * (1 if version == "v8" else rows[:, 4:5])
    corners = torch.cat([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1)
    return corners, *scores.max(1), rows[:, first + len(LABELS) :]


def yolo_answer(model, size, score, iou, limit=100):
    image = photo(*size)
    pixels, scale, (left, top, width, height) = letterboxed(image)
    with torch.no_grad():
        table, prototypes = model(pixels)
    corners, scores, classes, coefficients = proposals(model.version, model.final, table[0])
    corners = (corners - torch.tensor([left, top, left, top])) / scale
    keep = torch.nonzero(scores >= score)[:, 0]
    clipped = lambda boxes: torch.stack([boxes[:, at].clamp(0, size[at % 2]) for at in range(4)], 1)
    inside = clipped(corners[keep])
    keep = keep[(inside[:, 2] > inside[:, 0]) & (inside[:, 3] > inside[:, 1])]
    kept = batched_nms(corners[keep], scores[keep], classes[keep], iou) if iou < 1 else scores[keep].argsort(descending=True)
    keep = keep[kept][:limit]
    logits = torch.einsum("nk,khw->nhw", coefficients[keep], prototypes[0])
    quarter = lambda value: value // 4
    logits = logits[:, quarter(top) : quarter(top + height), quarter(left) : quarter(left + width)]
    logits = torch.nn.functional.interpolate(logits[None], (size[1], size[0]), mode="bilinear", align_corners=False)[0]
    x, y = torch.arange(size[0]), torch.arange(size[1])[:, None]
    found = []
    for index, map, box in zip(keep, logits, clipped(corners[keep])):
        inside = (x >= box[0]) & (x < box[2]) & (y >= box[1]) & (y < box[3])
        found.append((classes[index], scores[index], box, (map > 0) & inside))
    return answer_of(found, size)


def answer_of(found, size):
    return [
        {"label": LABELS[label], "score": score, "box": dict(zip(("xmin", "ymin", "xmax", "ymax"), box)), "mask": {"width": size[0], "height": size[1], "runs": runs_of(mask.numpy())}}
        for label, score, box, mask in found if mask.any()
    ]


def write(repository, graph, config, labels=None, **metadata):
    """Writes an archive in TorchServe's layout."""
    folder = HERE / repository
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "MAR-INF").mkdir(parents=True)
    strip(graph)
    for key, value in metadata.items():
        graph.metadata_props.add(key=key, value=str(value))
    store(graph, folder / "model.onnx")
    manifest = {"modelName": repository, "modelVersion": "1.0", "serializedFile": "model.onnx", "handler": "instance_segmenter", "configFile": "model-config.yaml"}
    (folder / "MAR-INF/MANIFEST.json").write_text(json.dumps({"model": manifest}, indent=2) + "\n")
    # JSON is YAML.
    (folder / "model-config.yaml").write_text(json.dumps({"handler": {**config, **({"labels": labels} if labels else {})}}, indent=2) + "\n")
    size = stored_bytes(folder)
    print(repository, size)
    if size > MAX_BYTES:
        raise SystemExit(f"{repository} has {size} bytes, more than {MAX_BYTES}.")


def exported(model, example, inputs, outputs, axes={}):
    file = HERE / "exported.onnx"
    torch.onnx.export(model, example, file, input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False)
    graph = onnx.load(file)
    file.unlink()
    return graph


# What Ultralytics' exporter writes; YOLOv5's has no task.
NAMES = dict(enumerate(LABELS))
YOLOS = [
    ("instance-yolov8", "YOLOv8-seg, YOLO11-seg", "v8", False, {}, {"task": "segment", "names": NAMES}, 0.7),
    ("instance-yolov5", "YOLOv5-seg", "v5", False, {"decoder": "yolov5"}, {"stride": 32, "names": NAMES}, 0.45),
    ("instance-yolo-end2end", "YOLO26-seg", "v8", True, {}, {"task": "segment", "names": NAMES, "end2end": True}, 1),
]


def yolo_rows():
    rows = []
    for repository, architecture, version, final, config, metadata, iou in YOLOS:
        torch.manual_seed(1)
        model = Yolo(version, final).eval()
        with torch.no_grad():
            for value in model.parameters():
                value.mul_(3)
        graph = exported(model, letterboxed(photo(*PHOTOS[0]))[0], ["images"], ["output0", "output1"])
        write(repository, graph, {"imageProcessing": LETTERBOX, **config}, **metadata)
        requests = []
        for size in PHOTOS:
            with torch.no_grad():
                _, scores, _, _ = proposals(version, final, model(letterboxed(photo(*size))[0])[0][0])
            ranked = scores.sort(descending=True).values
            threshold = round(float(ranked[7] + ranked[8]) / 2, 5)
            answer = yolo_answer(model, size, threshold, iou)
            print(repository, size, threshold, [(one["label"], float(one["score"]), len(one["mask"]["runs"])) for one in answer])
            requests.append({"input": {"photo": size}, "params": {"scoreThreshold": threshold}, "answer": answer})
        looser = yolo_answer(model, PHOTOS[0], threshold := requests[0]["params"]["scoreThreshold"], 0.2, 3)
        requests.append({"input": {"photo": PHOTOS[0]}, "params": {"scoreThreshold": threshold, "iouThreshold": 0.2, "maxDetections": 3}, "answer": looser})
        rows.append({"architecture": architecture, "repository": repository, "requests": requests})
    return rows


class Backbone(torch.nn.Module):
    out_channels = 8

    def __init__(self):
        super().__init__()
        layer = lambda inputs: torch.nn.Sequential(torch.nn.Conv2d(inputs, 8, 3, 2, 1), torch.nn.ReLU())
        self.first, self.second = torch.nn.Sequential(layer(3), layer(8), layer(8)), layer(8)

    def forward(self, images):
        first = self.first(images)
        return {"0": first, "1": self.second(first)}


def mask_rcnn(**sizes):
    pool = lambda size: MultiScaleRoIAlign(["0", "1"], size, 2)
    return MaskRCNN(
        Backbone(), rpn_anchor_generator=AnchorGenerator(((16,), (32,)), ((0.5, 1.0, 2.0),) * 2), rpn_post_nms_top_n_test=20, box_detections_per_img=8,
        box_roi_pool=pool(3), box_head=TwoMLPHead(8 * 9, 16), box_predictor=FastRCNNPredictor(16, len(LABELS)), mask_roi_pool=pool(14),
        mask_head=MaskRCNNHeads(8, (8,), 1), mask_predictor=MaskRCNNPredictor(8, 8, len(LABELS)), box_score_thresh=0.1, **sizes)


def mask_rcnn_rows():
    outputs = ["boxes", "labels", "scores", "masks"]
    rows = []
    # As torch exports it, masks are pasted into the photo; the model zoo's has a map of 28 × 28 for each box.
    for repository, architecture, is_pasted in [("instance-mask-rcnn", "MaskRCNN (torchvision)", True), ("instance-mask-rcnn-maps", "MaskRCNN (maps of boxes)", False)]:
        torch.manual_seed(3)
        model = mask_rcnn(min_size=SIDE, max_size=SIDE if not is_pasted else 96).eval()
        with torch.no_grad():
            for value in model.parameters():
                value.mul_(2.5)
            # Without steps from 0 to 1, whose middle is the threshold, and without features of 0 that lie on it.
            model.roi_heads.mask_predictor.mask_fcn_logits.weight *= 0.02
            model.roi_heads.mask_predictor.mask_fcn_logits.bias += 0.1
        if not is_pasted:
            model.transform.postprocess = lambda result, sizes, originals: result
        pixels = lambda image: torch.from_numpy(np.asarray(image).copy()).permute(2, 0, 1).float() / 255
        sizes = [(61, 47) if is_pasted else (60, 46), (40, 80)]
        side = lambda image: image if is_pasted else image.resize((SIDE, SIDE), Image.BILINEAR)
        axes = {"images": {1: "height", 2: "width"}} if is_pasted else {}
        graph = exported(model, ([pixels(side(photo(*sizes[0])))],), ["images"], outputs, {**axes, **{name: {0: "boxes"} for name in outputs}})
        write(repository, graph, {"imageProcessing": ["toTensor"] if is_pasted else [{"resize": [SIDE, SIDE]}, "toTensor"]}, LABELS)
        # The graph resizes by a scale, torchvision to a size: its outputs are those of ONNX Runtime.
        session = onnxruntime.InferenceSession(HERE / repository / "model.onnx")
        requests = []
        for size in sizes:
            boxes, labels, scores, masks = map(torch.from_numpy, session.run(outputs, {"images": pixels(side(photo(*size))).numpy()}))
            if not is_pasted:
                boxes = boxes * torch.tensor([size[0] / SIDE, size[1] / SIDE] * 2)
                masks = paste_masks_in_image(masks, boxes, (size[1], size[0]))
            threshold = round(float(scores[3] + scores[4]) / 2, 5)
            assert (masks[scores >= threshold] - 0.5).abs().min() > 2e-6, "float32 must decide no pixel"
            every = [(label, score, box, mask[0] > 0.5) for label, score, box, mask in zip(labels, scores, boxes, masks) if score >= threshold]
            print(repository, size, threshold, [(int(label), float(score), int(mask.sum())) for label, score, _, mask in every])
            requests.append({"input": {"photo": size}, "params": {"scoreThreshold": threshold}, "answer": answer_of(every, size)})
        rows.append({"architecture": architecture, "repository": repository, "requests": requests})
    return rows
