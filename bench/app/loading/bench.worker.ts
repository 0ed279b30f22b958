import { expose, ImageClassifier } from '../../../src/worker.ts';

// As in a browser without JSPI, which gets another build of ONNX Runtime.
if ((globalThis as { name?: string }).name === 'asyncify') Reflect.deleteProperty(WebAssembly, 'Suspending');
expose(ImageClassifier);
