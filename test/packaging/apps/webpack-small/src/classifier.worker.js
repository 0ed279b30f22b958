import { onnxWasm } from 'tabserve/engines/onnx-wasm';
import { expose, ImageClassifier } from 'tabserve/worker/core';

/** One engine, named: the files of the others are not even built. Some hosts take no file above 25 MiB, as those for the GPU are. */
expose(ImageClassifier, { engines: { 'onnx/wasm': onnxWasm } });
