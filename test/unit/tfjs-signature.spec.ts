import { expect, test } from '@playwright/test';
import type { ModelJson } from '../../src/engines/tfjs/artifacts.ts';
import { readSignature, type Signature } from '../../src/engines/tfjs/signature.ts';

const shape = (...sizes: number[]) => ({ dim: sizes.map((size) => ({ size: String(size) })) });
const x = { name: 'x', op: 'Placeholder', attr: { dtype: { type: 'DT_FLOAT' }, shape: { shape: shape(-1, 4) } } };
const model = (rest: object, node: object[] = [x]): ModelJson => ({ modelTopology: { node }, ...rest }) as ModelJson;
const told = (json: ModelJson) =>
  Object.fromEntries(
    (Object.entries(readSignature(json)) as [string, Signature['inputs']][]).map(([kind, infos]) => [
      kind,
      infos.map(({ name, dtype, dims }) => `${name}: ${dtype} [${dims.join()}]`),
    ]),
  );

test('the names are the keys of the signature, wherever the converter has put it', () => {
  const signature = {
    inputs: { image: { name: 'serving_default_x:0', dtype: 'DT_FLOAT', tensorShape: shape(-1, 4) } },
    outputs: { ids: { name: 'PartitionedCall:1', dtype: 'DT_INT64', tensorShape: shape(-1) }, ok: { name: 'PartitionedCall:0', dtype: 10, tensorShape: {} } },
  };
  const expected = { inputs: ['image: float32 [,4]'], outputs: ['ids: int64 []', 'ok: bool []'] };
  expect(told(model({ signature }))).toEqual(expected);
  expect(told(model({ userDefinedMetadata: { signature } }))).toEqual(expected);
});

test('a table that the model carries with it is no input', () => {
  const signature = { inputs: { x: { name: 'x:0', dtype: 'DT_FLOAT', tensorShape: shape(4) }, table: { name: 'table:0', dtype: 'DT_RESOURCE', resourceId: 7 } } };
  expect(told(model({ signature }))['inputs']).toEqual(['x: float32 [4]']);
});

test('without a signature: placeholders, and what no other node reads', () => {
  const nodes = [
    x,
    { name: 'best', op: 'ArgMax', input: ['x', 'axis'], attr: { T: { type: 'DT_FLOAT' }, output_type: { type: 'DT_INT64' } } },
    { name: 'axis', op: 'Const', attr: { dtype: { type: 'DT_INT32' } } },
    { name: 'positive', op: 'Greater', input: ['x:0', '^axis'], attr: { T: { type: 'DT_FLOAT' } } },
    { name: 'same', op: 'Identity', input: ['x'], attr: { T: { type: 'DT_FLOAT' }, _output_shapes: { list: { shape: [shape(-1, 4)] } } } },
    { name: 'init', op: 'NoOp' },
  ];
  expect(told(model({}, nodes))).toEqual({ inputs: ['x: float32 [,4]'], outputs: ['best: int64 []', 'positive: bool []', 'same: float32 [,4]'] });
});

test('a dtype that TensorFlow.js has not, and an input whose rank nobody tells', () => {
  const entry = (dtype: string, tensorShape?: object) => model({ signature: { inputs: { half: { name: 'h:0', dtype, tensorShape } } } });
  for (const dtype of ['DT_HALF', 'DT_DOUBLE', 'DT_COMPLEX64', 'DT_UINT32'])
    expect(() => readSignature(entry(dtype, shape(1)))).toThrow(expect.objectContaining({ code: 'unsupported', message: expect.stringContaining(dtype) }));
  for (const unknown of [undefined, { unknownRank: true }])
    expect(() => readSignature(entry('DT_FLOAT', unknown))).toThrow(expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('"half"') }));
});
