"""
Writes selfie.tflite: MediaPipe's own file of Selfie Segmentation, from the package mediapipe 0.10.21, with the metadata
that MediaPipe Tasks ask for (numbers in 0..1). Run it where that package is installed:

    python bench/model/selfie.py
"""
from pathlib import Path

import mediapipe
from mediapipe.tasks.python.metadata.metadata_writers import image_segmenter

SOURCE = Path(mediapipe.__file__).parent / 'modules/selfie_segmentation/selfie_segmentation.tflite'

writer = image_segmenter.MetadataWriter.create(bytearray(SOURCE.read_bytes()), [0.0], [255.0])
model, _ = writer.populate()
Path(__file__).with_name('selfie.tflite').write_bytes(model)
