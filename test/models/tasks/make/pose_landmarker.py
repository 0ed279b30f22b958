import numpy as np
import torch
from transformers import VitPoseBackboneConfig, VitPoseConfig, VitPoseForPoseEstimation, VitPoseImageProcessor

from common import answers, export_graph, photo, spread

NAMES = [
    "nose", "leftEye", "rightEye", "leftEar", "rightEar", "leftShoulder", "rightShoulder", "leftElbow", "rightElbow", "leftWrist", "rightWrist",
    "leftHip", "rightHip", "leftKnee", "rightKnee", "leftAnkle", "rightAnkle",
]
SIZE = {"height": 64, "width": 48}


def vitpose():
    backbone = VitPoseBackboneConfig(
        image_size=[64, 48], patch_size=[16, 16], hidden_size=16, num_hidden_layers=2, num_attention_heads=2, mlp_ratio=2, num_experts=1, part_features=0, out_indices=[2])
    config = VitPoseConfig(backbone_config=backbone, use_simple_decoder=True, scale_factor=4, num_labels=17)
    return spread(VitPoseForPoseEstimation(config), seed=6, scale=0.12), VitPoseImageProcessor(size=SIZE)


def pose(model, processor, image):
    """The whole photo as one person."""
    box = [[0.0, 0.0, float(image.width), float(image.height)]]
    inputs = processor(image, boxes=[box], return_tensors="pt")
    with torch.no_grad():
        outputs = model(**inputs)
    (person,), = processor.post_process_pose_estimation(outputs, boxes=[box])
    points, scores = person["keypoints"].numpy().astype(float), person["scores"].numpy().astype(float)
    assert scores.min() > 0, "a point that transformers does not see"
    scores = scores.clip(0, 1)
    assert np.abs(points - 80).max() < 240, "a map so flat that a step of Newton's method leads far away"
    corners = [float(v) for v in (*points.min(0), *points.max(0))]
    return [{
        "score": scores.mean(),
        "box": dict(zip(("xmin", "ymin", "xmax", "ymax"), corners)),
        "landmarks": [{"x": x, "y": y, "score": score, "name": name} for (x, y), score, name in zip(points, scores, NAMES)],
    }]


def make():
    model, processor = vitpose()
    with torch.no_grad():
        # Heat maps as trained ones are: numbers in 0..1 with a clear top.
        model.head.conv.weight.mul_(0.5)
        model.head.conv.bias.fill_(0.35)
    repository = "pose-vitpose"
    export_graph(repository, model, [processor], torch.zeros(1, 3, 64, 48), ["heatmaps"])
    requests = []
    for size in ((120, 160), (90, 70)):
        image = photo(*size)
        answer = pose(model, processor, image)
        print(size, answer[0]["score"], answer[0]["box"])
        requests.append({"input": {"photo": size}, "params": {"scoreThreshold": 0}, "answer": answer})
    answers("pose_landmarker", [{"architecture": "VitPoseForPoseEstimation", "repository": repository, "requests": requests}])
