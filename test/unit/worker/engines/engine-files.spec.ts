import { readFileSync, statSync } from 'node:fs';
import { expect, test } from '@playwright/test';

/** Its `.wasm` is asked for before the engine is loaded, and is cached by the engine's version. */
for (const [source, name] of [
  ['onnx/files', 'onnxruntime-web'],
  ['tfjs-wasm', '@tensorflow/tfjs-core'],
] as const) {
  test(`${source}: the version of ${name}`, () => {
    const code = readFileSync(new URL(`../../../../src/worker/engines/${source}.ts`, import.meta.url), 'utf8');
    const manifest = readFileSync(new URL(`../../../../node_modules/${name}/package.json`, import.meta.url), 'utf8');
    expect(/VERSION = '([^']+)'/.exec(code)![1]).toBe((JSON.parse(manifest) as { version: string }).version);
  });
}

/** Servers that compress do not tell the size of an engine's `.wasm`: it stands in our source. */
for (const [source, path] of [
  ['onnx-wasm', 'onnxruntime-web/dist/ort-wasm-simd-threaded.wasm'],
  ['onnx/webgpu', 'onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm'],
  ['onnx/webgpu-jspi', 'onnxruntime-web/dist/ort-wasm-simd-threaded.jspi.wasm'],
  ['tfjs-wasm', '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm'],
] as const) {
  test(`${source}: the size of its .wasm`, () => {
    const code = readFileSync(new URL(`../../../../src/worker/engines/${source}.ts`, import.meta.url), 'utf8');
    const bytes = /bytes: ([\d_]+)/.exec(code)![1]!.replaceAll('_', '');
    expect(Number(bytes)).toBe(statSync(new URL(`../../../../node_modules/${path}`, import.meta.url)).size);
  });
}
