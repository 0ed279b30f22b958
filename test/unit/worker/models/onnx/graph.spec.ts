import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as ort from 'onnxruntime-web';
import { readSignature } from '../../../../../src/worker/engines/onnx/signature.ts';
import { readExternalData } from '../../../../../src/worker/models/onnx/external-data.ts';
import { OWN_FILE, readGraph } from '../../../../../src/worker/models/onnx/graph.ts';
import { encode, encodeText, join } from '../../../../../src/worker/models/onnx/protobuf-writer.ts';

const MODEL = readFileSync(new URL('../../../../models/moderation/model.onnx', import.meta.url));

/** The model with 15 MB of documentation: field 6 of `onnx.proto`, at the end of the file. */
function enlarge(model: Uint8Array): Uint8Array<ArrayBuffer> {
  const length = 15 * 2 ** 20;
  const head = [
    (6 << 3) | 2,
    (length & 127) | 128,
    ((length >> 7) & 127) | 128,
    ((length >> 14) & 127) | 128,
    length >> 21,
  ];
  return Uint8Array.from(Buffer.concat([model, Buffer.from(head), Buffer.alloc(length, 'documentation ')]));
}

test('ONNX Runtime computes the same from a graph without weights and the file as from the file', async () => {
  const file = enlarge(MODEL);
  const graph = (await readGraph(new Blob([file])))!;
  expect(file.length - graph.length, 'the bytes of large weights').toBeGreaterThan(0.6 * MODEL.length);
  expect(readSignature(graph)).toEqual(readSignature(MODEL));
  expect(readExternalData(graph)).toEqual([]);

  const whole = await ort.InferenceSession.create(MODEL);
  const inParts = await ort.InferenceSession.create(graph, { externalData: [{ path: OWN_FILE, data: file }] });
  const [input] = readSignature(MODEL).inputs;
  const dims = input!.dims.map((size) => (typeof size === 'number' ? size : 1));
  const data = Float32Array.from({ length: dims.reduce((a, b) => a * b) }, (_, at) => Math.abs(Math.sin(at)));
  const run = async (session: ort.InferenceSession): Promise<unknown> => {
    const outputs = await session.run({ [input!.name]: new ort.Tensor('float32', data, dims) });
    return Object.values(outputs).map(({ data }) => data);
  };
  expect(await run(inParts)).toEqual(await run(whole));
});

test('small files, and damaged ones, have no graph', async () => {
  const file = enlarge(MODEL);
  expect(await readGraph(new Blob([MODEL]))).toBeUndefined();
  expect(await readGraph(new Blob([file.subarray(0, -1)]))).toBeUndefined();
  expect(await readGraph(new Blob([new Uint8Array(2 ** 24)]))).toBeUndefined();
  expect(await readGraph(new Blob([new Uint8Array(2 ** 24).fill(0xff)]))).toBeUndefined();
  // A graph that is shorter than it says, in a file that is long enough.
  file.set([0xff, 0xff, 0xff, 0x7f], file.indexOf((7 << 3) | 2) + 1);
  expect(await readGraph(new Blob([file]))).toBeUndefined();
});

test('a graph of very many nodes has a graph, too', async () => {
  const nodes = Array<Uint8Array>(300_000).fill(join(encode(1, encodeText(3, 'n'.repeat(60)))));
  const file = join(encode(7, nodes));
  expect((await readGraph(new Blob([file])))?.length).toBe(file.length);
});
