import { expect, test } from '@playwright/test';
import { npmFile } from '../../../../src/worker/engines/npm-file.ts';

const ORT = 'ort-wasm-simd-threaded.wasm';
const TFJS = '@tensorflow/tfjs-backend-wasm/dist/tfjs-backend-wasm-simd.wasm';

test('the URL that a bundler has placed a file at stays', () => {
  for (const url of [
    'https://app.example/assets/ort-wasm-simd-threaded-D2F1.wasm',
    `https://app.example/node_modules/onnxruntime-web/dist/${ORT}`,
    `https://app.example/node_modules/${TFJS}`,
    `https://app.example/node_modules/.pnpm/tabserve@0.3.0/node_modules/${TFJS}`,
  ])
    expect(npmFile(new URL(url)).href).toBe(url);
});

test("where Vite's dev server leaves the name of a package, the file is in the folder of the package", () => {
  // Seen in Vite 8: a relative URL is taken for one beside the module. Other versions leave it beside their bundle.
  for (const [left, root] of [
    ['/node_modules/tabserve/dist/worker/engines/onnx/onnxruntime-web/', '/node_modules/'],
    [
      '/node_modules/.pnpm/tabserve@0.3.0/node_modules/tabserve/dist/worker/engines/onnx/onnxruntime-web/',
      '/node_modules/.pnpm/tabserve@0.3.0/node_modules/',
    ],
    ['/node_modules/.vite/deps/onnxruntime-web/', '/node_modules/'],
  ] as const)
    expect(npmFile(new URL(`http://localhost:5173${left}${ORT}`)).pathname).toBe(`${root}onnxruntime-web/dist/${ORT}`);
  expect(
    npmFile(new URL(`http://localhost:5173/node_modules/tabserve/dist/worker/engines/tfjs/${TFJS}`)).pathname,
  ).toBe(`/node_modules/${TFJS}`);
});
