/**
 * transformers.js: its image-classification pipeline, on the page, on the same weights and without any network but our
 * own server.
 */
import { env, pipeline } from '@huggingface/transformers';
import { LABELS, MODEL, SESSION_OPTIONS, THREADS, type Answer } from '../model.ts';

export interface Transformers {
  readonly version: string;
  /** Of the onnxruntime-web that it brings. */
  readonly ortVersion: string;
  classify(file: File): Promise<Answer>;
}

export async function openTransformers(): Promise<Transformers> {
  env.allowRemoteModels = false;
  env.allowLocalModels = true;
  env.localModelPath = '/';
  env.useBrowserCache = false;
  const { onnx } = env.backends;
  onnx.wasm.wasmPaths = new URL('/ort/', location.href).href;
  onnx.wasm.numThreads = THREADS;
  onnx.wasm.proxy = false;
  const { graphOptimizationLevel, logSeverityLevel } = SESSION_OPTIONS;
  const classifier = await pipeline('image-classification', MODEL, {
    device: 'wasm',
    dtype: 'fp32',
    session_options: { graphOptimizationLevel, logSeverityLevel },
  });
  return {
    version: env.version,
    ortVersion: onnx.versions?.web ?? 'unknown',
    async classify(file) {
      const answers = await classifier(file, { top_k: LABELS.length });
      return Object.fromEntries(answers.map(({ label, score }) => [label, score]));
    },
  };
}
