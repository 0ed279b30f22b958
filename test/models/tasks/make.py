"""Makes the repositories of this folder, tiny models of real architectures with random weights as Hugging Face's exporters
lay them out, and for each task a file of what transformers' own pipelines answer.

    python test/models/tasks/make.py [TASK ...]

Needs torch, transformers 4.57, optimum-onnx, onnx, onnxruntime, tokenizers, sentence-transformers, segment_anything, EfficientSAM (`make/exported_sams.py`) and Pillow 12: since 13, Pillow shrinks tall images in
height first, and rounds differently. A task is a module in `make/` with a function `make`. The
weights come from fixed seeds. `newest`, run alone with transformers 5.24, makes rows of classes that 4.57 does not have. Tokenizers that are there are kept: their training has another result each time.
"""
import importlib
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
TASKS = sorted(path.stem for path in (HERE / "make").glob("*.py") if "\ndef make():" in path.read_text())

if __name__ == "__main__":
    sys.path.insert(0, str(HERE / "make"))
    for task in sys.argv[1:] or TASKS:
        importlib.import_module(task).make()
