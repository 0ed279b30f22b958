"""Packs the tiny classifier with TorchServe's own torch-model-archiver (0.12.0), in each of its formats, and archives that cannot run in a browser; one of them with torch-workflow-archiver (0.2.15).

    pip install torch-model-archiver torch-workflow-archiver && python test/models/archives/make.py
"""

import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
TINY = HERE.parent / "tiny-archive"
ARCHIVER = "from model_archiver.model_packaging import generate_model_archive; generate_model_archive()"


def archive(name, *flags, format="default", to=HERE):
    subprocess.run(
        [sys.executable, "-c", ARCHIVER, "--model-name", name, "--version", "1.0", "--force",
         "--export-path", str(to), "--archive-format", format, *map(str, flags)],
        check=True,
    )  # fmt: skip


with tempfile.TemporaryDirectory() as folder:
    files = pathlib.Path(folder)
    # TorchServe's keys beside the handler's own.
    config = "minWorkers: 1\nmaxWorkers: 1\nbatchSize: 2\nmaxBatchDelay: 5\n" + (TINY / "model-config.yaml").read_text()
    (files / "model-config.yaml").write_text(config)
    (files / "notes").mkdir()
    (files / "notes/readme.txt").write_text("An extra file that no manifest names.\n" * 4)
    (files / "my_handler.py").write_text("def entry(data, context):\n    return data\n")
    (files / "weights.pt").write_bytes(b"PK\x03\x04 no weights")
    (files / "tabserve.json").write_text(json.dumps({"golden": ["missing.safetensors"]}))
    onnx, labels = TINY / "tiny_classifier.onnx", TINY / "index_to_name.json"
    tiny = ["--serialized-file", onnx, "--handler", "image_classifier", "--config-file", files / "model-config.yaml",
            "--extra-files", f"{labels},{files / 'notes'}"]  # fmt: skip
    archive("tiny", *tiny)
    archive("tiny", *tiny, format="tgz")
    archive("tiny", *tiny, format="no-archive")
    archive("tiny-store", *tiny, format="zip-store")
    archive("python-handler", "--serialized-file", onnx, "--handler", files / "my_handler:entry")
    archive("python-file", "--serialized-file", onnx, "--handler", files / "my_handler.py")
    archive("pytorch", "--serialized-file", files / "weights.pt", "--handler", "image_classifier")
    archive("no-model", "--handler", "image_classifier", "--extra-files", labels)
    spec = "models:\n  tiny:\n    url: tiny.mar\ndag:\n  pre_processing: [tiny]\n"
    (files / "workflow.yaml").write_text(spec)
    pair = """models:
  min-workers: 1
  max-workers: 2
  batch-size: 2
  max-batch-delay: 100
  retry-attempts: 1
  first:
    url: tiny.mar
    timeout-ms: 30000
  second:
    url: tiny.mar
    batch-size: 4
dag:
  first: []
  second: []
"""
    (files / "pair.yaml").write_text(pair)
    packed = "from workflow_archiver.workflow_packaging import generate_workflow_archive; generate_workflow_archive()"
    # Without a handler, torch-workflow-archiver 0.2.15 fails.
    for name in ("workflow", "pair"):
        subprocess.run(
            [sys.executable, "-c", packed, "--workflow-name", name, "--spec-file", str(files / f"{name}.yaml"),
             "--handler", str(files / "my_handler.py"), "--export-path", str(HERE), "--force"],
            check=True,
        )  # fmt: skip
    archive("no-golden", *tiny[:4], "--extra-files", files / "tabserve.json")
