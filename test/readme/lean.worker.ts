import { onnxWasm } from 'tabserve/engines/onnx-wasm';
import { expose, ImageClassifier } from 'tabserve/worker/core';

expose(ImageClassifier, { engines: { 'onnx/wasm': onnxWasm } });
