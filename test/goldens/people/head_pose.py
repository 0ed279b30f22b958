"""The poses of the heads in faces.json: the rotation that fits MediaPipe's canonical face model best to all 468 points, by Kabsch's algorithm.

    pip install numpy
    python test/goldens/people/head_pose.py canonical_face_model.obj    # of MediaPipe's repository: mediapipe/modules/face_geometry/data

Writes  test/goldens/people/head-pose.json: for each photo that is not turned, yaw, pitch and roll of each face, in degrees

The rotation is Rz(roll) · Ry(−yaw) · Rx(−pitch), of axes to the right, downwards and away from the camera: yaw is to the person's left, pitch upwards, roll clockwise.
"""

import json
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent


def main():
    lines = Path(sys.argv[1]).read_text().splitlines()
    # Its axes are to the right, upwards and to the camera.
    model = np.array([line.split()[1:4] for line in lines if line.startswith("v ")], float) * [1, -1, -1]
    model -= model.mean(0)
    cases = []
    for case in json.loads((HERE / "faces.json").read_text())["cases"]:
        if case["turn"]:
            continue
        heads = []
        for face in case["faces"]:
            points = np.array(face["landmarks"])
            u, _, vt = np.linalg.svd((points - points.mean(0)).T @ model)
            x, y, z = (u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt).T
            heads.append([round(float(np.degrees(angle)), 2) for angle in (np.arctan2(x[2], np.hypot(x[0], x[1])), -np.arctan2(y[2], z[2]), np.arctan2(x[1], x[0]))])
        cases.append({"photo": case["photo"], "heads": heads})
    (HERE / "head-pose.json").write_text(json.dumps({"cases": cases}) + "\n")
    x = model[263] - model[33]
    y = model[152] - model[10]
    x /= np.linalg.norm(x)
    z = np.cross(x, y)
    z /= np.linalg.norm(z)
    y = np.cross(z, x)
    print("the model's own pitch, by eyes, forehead and chin:", np.degrees(np.arctan2(y[2], z[2])))


main()
