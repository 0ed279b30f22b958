// What a graph computes before and after it was adapted, by ONNX Runtime itself, on graphs of torch's exporter.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { InferenceSession, Tensor } from 'onnxruntime-node';
import { adaptGraph } from '../../../../../src/worker/engines/onnx/adapt-graph.ts';
import { readSignature } from '../../../../../src/worker/engines/onnx/signature.ts';
import { readOnnxGraph } from '../../../../../src/tools/cli/onnx-graph.ts';
import { missingOperators } from '../../../../../src/tools/cli/operator-tables.ts';

const read = (name: string): Uint8Array => readFileSync(`test/models/${name}.onnx`);

async function outputsOf(model: Uint8Array): Promise<readonly (readonly [dims: readonly number[], data: unknown])[]> {
  const session = await InferenceSession.create(model);
  const { inputs } = readSignature(model);
  const feeds = inputs.map(({ name, dims }) => {
    const size = (dims as number[]).reduce((product, dim) => product * dim, 1);
    return [
      name,
      new Tensor(
        Float32Array.from({ length: size }, (_, at) => Math.sin(at * 1.7)),
        dims as number[],
      ),
    ];
  });
  const outputs = await session.run(Object.fromEntries(feeds) as Record<string, Tensor>);
  return Object.values(outputs).map(({ dims, data }) => [dims, data]);
}

const countOf = (model: Uint8Array, operator: string): number =>
  readOnnxGraph(model).operators.find(({ name }) => name === operator)?.count ?? 0;

for (const [name, changed] of [
  // Open ends of slices, sizes of parts, and elements by place after they were reshaped.
  ['tasks/instance-yolov8/model', 'Split'],
  // The image, enlarged to the nearest pixel.
  ['tasks/image-realesrgan/model', 'Resize'],
] as const)
  test(`a graph computes the same without ${changed}: ${name}`, async () => {
    const model = read(name);
    const adapted = adaptGraph(model);
    expect([countOf(model, changed) > 0, countOf(adapted, changed)]).toEqual([true, 0]);
    expect(missingOperators(readOnnxGraph(adapted), 'webgl')).toEqual([]);
    expect(await outputsOf(adapted)).toEqual(await outputsOf(model));
  });

for (const [what, name, isChanged] of [
  ['before opset 10, where a slice has attributes', 'reshaped_opset9', true],
  ['that returns the end of a slice', 'end_as_output', false],
  ['that gives scales in another order than the dims', 'resize_axes', false],
] as const)
  test(`a graph computes the same: ${what}`, async () => {
    const model = read(name);
    const adapted = adaptGraph(model);
    expect(adapted !== model).toBe(isChanged);
    expect(await outputsOf(adapted)).toEqual(await outputsOf(model));
  });

test('ends of slices fit into int32; what else has such numbers keeps them', () => {
  const numbers = (model: Uint8Array): boolean => Buffer.from(model).includes(Buffer.from('ffffffffffffff7f', 'hex'));
  const open = read('tasks/instance-yolov5/model');
  expect([numbers(open), numbers(adaptGraph(open))]).toEqual([true, false]);
});

test('free dimensions get their sizes; one without a size stays free', () => {
  const image = read('dynamic_image');
  const [given] = readSignature(image).inputs;
  expect(given!.dims).toEqual([1, 3, 'height', 'width']);
  const dims = (sizes: Record<string, number>): unknown => readSignature(adaptGraph(image, sizes)).inputs[0]!.dims;
  expect(dims({ height: 8, width: 6 })).toEqual([1, 3, 8, 6]);
  expect(dims({ width: 6, others: 1 })).toEqual([1, 3, 'height', 6]);
});

test('a graph without any of it, and a damaged file, stay as they are', () => {
  for (const model of [read('affine'), Uint8Array.of(0x3a, 99, 1), new Uint8Array()])
    expect(adaptGraph(model)).toBe(model);
});
