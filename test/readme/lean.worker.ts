import { expose, ImageClassifier, onnxWasm } from 'tabserve/worker/core';

expose(ImageClassifier, { engines: { 'onnx/wasm': onnxWasm } });
