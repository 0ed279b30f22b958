"""Records what MediaPipe's Python package answers to twelve photos, of which three show nobody: the expected values of face_detector and the landmarkers.

    pip install mediapipe==0.10.14 pillow
    python test/goldens/people/answers.py

Writes  test/goldens/people/{faces,hands,poses}.json, and connections.json: which points MediaPipe connects

The photos are the gallery's, whose model cards have their licenses, and `stairs.jpg` beside this script: `demo/sample5.jpg` of the npm package
`@vladmandic/face-api` 1.7.15 ("taken by me", says its author; MIT), made 800 pixels wide by Pillow's Lanczos filter, JPEG of quality 85.

The package hands its graphs to C++ as text, and leaves out the options of calculators that no imported module has declared: of bodies, the
`kernel_size` of 7 with which heat maps refine the points, for which C++ then takes its default of 9. On two photos that moves a point that can hardly
be seen by 5 % and 7 % of the body's diagonal. The graph, and MediaPipe's newer API (`ConfigureRefineLandmarksFromHeatmapCalculator` in
`pose_landmarks_detector_graph.cc`), say 7. So all options are declared here first.

Everything is in pixels of the photo. `rect` is the region that MediaPipe cuts out of the photo: center, size, and its clockwise turn in radians.
"""

import importlib
import json
import pkgutil
import re
from pathlib import Path

import mediapipe as mp
import mediapipe.calculators
import numpy as np
from mediapipe.python.solution_base import SolutionBase
from PIL import Image

for module in pkgutil.walk_packages(mediapipe.calculators.__path__, "mediapipe.calculators."):
    importlib.import_module(module.name)

ROOT = Path(__file__).resolve().parents[3]
PHOTOS = [f"{name}.jpg" for name in (
    *(f"public/models/{name}" for name in (
        "selfie/samples/astronaut", "selfie/samples/grace-hopper", "selfie/samples/friends", "nanodet/samples/party", "nanodet/samples/bar",
        "hand/samples/sofa", "hand/samples/photo-shoot", "nanodet/samples/cat",
        "selfie/samples/photographer", "nanodet/samples/coffee", "selfie/samples/rocket",
    )),
    "test/goldens/people/stairs",
)]
# How a photo is shown: as it is, turned by quarters, or small at the corner of a black frame.
TURNS = [("public/models/selfie/samples/astronaut.jpg", 90), ("public/models/selfie/samples/grace-hopper.jpg", 180)]
MODULES = "mediapipe/modules"


def rounded(values, digits=3):
    return [round(float(v), digits) for v in values]


def cases():
    for path in PHOTOS:
        yield {"photo": path, "turn": 0}, Image.open(ROOT / path).convert("RGB")
    for path, turn in TURNS:
        # Counterclockwise, in degrees.
        yield {"photo": path, "turn": turn}, Image.open(ROOT / path).convert("RGB").rotate(turn, expand=True)


def points(landmarks, width, height, deep=True):
    return [rounded([p.x * width, p.y * height, *([p.z * width] if deep else [])], 2) for p in landmarks]


def rect(r, width, height):
    return rounded([r.x_center * width, r.y_center * height, r.width * width, r.height * height, r.rotation], 5)


def detection(d, width, height):
    box, own = d.location_data.relative_bounding_box, d.location_data.relative_keypoints
    return {
        "score": round(d.score[0], 5),
        "box": rounded([box.xmin * width, box.ymin * height, (box.xmin + box.width) * width, (box.ymin + box.height) * height]),
        "points": [rounded([p.x * width, p.y * height]) for p in own],
    }


def faces(image):
    width, height = image.size
    pixels = np.array(image)
    with mp.solutions.face_detection.FaceDetection(model_selection=0, min_detection_confidence=0.5) as model:
        detections = model.process(pixels).detections or []
    with SolutionBase(
        binary_graph_path=f"{MODULES}/face_landmark/face_landmark_front_cpu.binarypb",
        side_inputs={"num_faces": 10, "with_attention": False, "use_prev_landmarks": False},
        outputs=["multi_face_landmarks", "face_rects_from_detections"],
    ) as model:
        answer = model.process(pixels)
    found = zip(answer.multi_face_landmarks or [], answer.face_rects_from_detections or [])
    return {
        "detections": [detection(d, width, height) for d in detections],
        "faces": [{"rect": rect(r, width, height), "landmarks": points(f.landmark, width, height)} for f, r in found],
    }


def hands(image):
    width, height = image.size
    answers = {}
    for name, complexity in (("lite", 0), ("full", 1)):
        with SolutionBase(
            binary_graph_path=f"{MODULES}/hand_landmark/hand_landmark_tracking_cpu.binarypb",
            side_inputs={"model_complexity": complexity, "num_hands": 6, "use_prev_landmarks": False},
            outputs=["multi_hand_landmarks", "multi_handedness", "hand_rects_from_palm_detections", "palm_detections"],
            calculator_params={"palmdetectioncpu__TensorsToDetectionsCalculator.min_score_thresh": 0.5, "handlandmarkcpu__ThresholdingCalculator.threshold": 0.5},
        ) as model:
            answer = model.process(np.array(image))
        rects = [rect(r, width, height) for r in answer.hand_rects_from_palm_detections or []]
        found = list(zip(answer.multi_hand_landmarks or [], answer.multi_handedness or []))
        answers[name] = {
            "palms": [detection(d, width, height) for d in answer.palm_detections or []],
            "rects": rects,
            "hands": [
                {"landmarks": points(h.landmark, width, height), "handedness": k.classification[0].label.lower(), "score": round(k.classification[0].score, 5)}
                for h, k in found
            ],
        }
    return answers


def poses(image):
    width, height = image.size
    with SolutionBase(
        binary_graph_path=f"{MODULES}/pose_landmark/pose_landmark_cpu.binarypb",
        side_inputs={"model_complexity": 1, "smooth_landmarks": False, "enable_segmentation": False, "smooth_segmentation": False, "use_prev_landmarks": False},
        outputs=["pose_landmarks", "pose_detection", "pose_rect_from_detection"],
    ) as model:
        answer = model.process(np.array(image))
    if answer.pose_landmarks is None:
        return {"pose": None}
    return {
        "detection": detection(answer.pose_detection, width, height),
        "rect": rect(answer.pose_rect_from_detection, width, height),
        "pose": {
            "landmarks": points(answer.pose_landmarks.landmark, width, height),
            "visibility": rounded([p.visibility for p in answer.pose_landmarks.landmark], 4),
        },
    }


def main():
    for name, function in (("faces", faces), ("hands", hands), ("poses", poses)):
        answers = [case | {"size": list(image.size)} | function(image) for case, image in cases()]
        text = json.dumps({"about": f"MediaPipe {mp.__version__}, by test/goldens/people/answers.py", "cases": answers}, indent=1)
        text = re.sub(r"\[[-+\d\s.,e]+\]", lambda m: "[" + " ".join(m.group()[1:-1].split()) + "]", text)
        path = ROOT / f"test/goldens/people/{name}.json"
        path.write_text(text + "\n")
        for answer in answers:
            print(name, answer["photo"], answer["turn"], [len(v) if isinstance(v, list) else v if not isinstance(v, dict) else [len(x) for x in v.values() if hasattr(x, "__len__")] for k, v in answer.items() if k not in ("photo", "turn", "size")])
    mesh = mp.solutions.face_mesh
    # Points of these parts have names.
    parts = {
        "rightEye": mesh.FACEMESH_RIGHT_EYE, "leftEye": mesh.FACEMESH_LEFT_EYE, "rightBrow": mesh.FACEMESH_RIGHT_EYEBROW, "leftBrow": mesh.FACEMESH_LEFT_EYEBROW,
        "lips": mesh.FACEMESH_LIPS, "oval": mesh.FACEMESH_FACE_OVAL, "nose": mesh.FACEMESH_NOSE,
    }
    connections = {
        "hands": sorted(mp.solutions.hands.HAND_CONNECTIONS), "poses": sorted(mp.solutions.pose.POSE_CONNECTIONS), "faces": sorted(mesh.FACEMESH_CONTOURS),
        "faceParts": {name: sorted({point for pair in part for point in pair}) for name, part in parts.items()},
    }
    (ROOT / "test/goldens/people/connections.json").write_text(json.dumps(connections) + "\n")


if __name__ == "__main__":
    main()
