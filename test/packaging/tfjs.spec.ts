import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goldens, valuesOf } from '../browser/goldens.ts';
import { copyAssets, install } from './app.ts';
import { expect, test } from './fixtures.ts';
import { serve } from './server.ts';

const models = fileURLToPath(new URL('../models/', import.meta.url));

const { inputs, outputs } = goldens['affine']![0]!;

test("TensorFlow.js's core, its backends and its layers are files of their own, and work together", async ({
  tarball,
  page,
  complaints,
}) => {
  const folder = await install(tarball, 'plain');
  try {
    await copyAssets(folder, 'tabserve');
    await using site = await serve([folder, join(folder, 'public'), join(models, 'tfjs')]);
    await page.goto(`${site.origin}/models/digits/index_to_name.json`);
    const answers = await page.evaluate(
      async ({ values }) => {
        const path = '/tabserve/tabserve.js';
        const { load } = (await import(path)) as typeof import('../../src/index.ts');
        const all: Record<string, number[]> = {};
        for (const model of ['/affine.json', '/affine.layers.json']) {
          for (const backend of ['tfjs/cpu', 'tfjs/wasm'] as const) {
            const client = await load(model, { handler: 'base_handler', backends: [backend] });
            const { y } = await client.predict({ data: Float32Array.from(values), dims: [values.length] });
            all[`${model} on ${backend}`] = Array.from(y!.data as Float32Array);
            await client.dispose();
          }
        }
        return all;
      },
      { values: valuesOf(inputs['x']!) as number[] },
    );
    const expected = valuesOf(outputs['y']!).map((value) => expect.closeTo(value as number, 5));
    expect(answers).toEqual({
      '/affine.json on tfjs/cpu': expected,
      '/affine.json on tfjs/wasm': expected,
      '/affine.layers.json on tfjs/cpu': expected,
      '/affine.layers.json on tfjs/wasm': expected,
    });
    const engines = [...site.sent.keys()].filter((path) => /\/(onnx|tfjs)-[\w-]+\.js$/.test(path)).sort();
    expect(engines).toEqual(['core', 'cpu', 'layers', 'wasm'].map((part) => `/tabserve/tfjs-${part}.js`));
    const registered = await page.evaluate(async () => {
      const core = '/tabserve/tfjs-core.js';
      const library = (await import(core)) as { core: typeof import('@tensorflow/tfjs-core') };
      for (const backend of ['/tabserve/tfjs-webgl.js', '/tabserve/tfjs-webgpu.js'])
        ((await import(backend)) as { link: (core: unknown) => void }).link(library.core);
      return ['webgl', 'webgpu'].map((name) => typeof library.core.findBackendFactory(name));
    });
    // The test's browser has no WebGPU: then the library registers nothing.
    expect(registered).toEqual(['function', expect.stringMatching(/^(function|object)$/)]);
    expect(complaints).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
