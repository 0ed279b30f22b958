"""Makes `made/`: what `age_estimator.py` writes beside the models of the other tasks. The files here are the example of
CONTRIBUTING.md, which `test/unit/repository/add-a-task.spec.ts` copies to their places.

    python test/add-a-task/make.py

Needs numpy, onnx and Pillow 12.
"""
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "models/tasks/make")]

import basics

basics.HERE = HERE / "made"

import age_estimator

age_estimator.make()
