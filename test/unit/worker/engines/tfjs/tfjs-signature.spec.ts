import { expect, test } from '@playwright/test';
import type { ModelJson } from '../../../../../src/worker/engines/tfjs/artifacts.ts';
import { fromTensorFlow } from '../../../../../src/worker/engines/tfjs/tensors.ts';
import { readSignature, type Signature } from '../../../../../src/worker/engines/tfjs/signature.ts';

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
    outputs: {
      ids: { name: 'PartitionedCall:1', dtype: 'DT_INT64', tensorShape: shape(-1) },
      ok: { name: 'PartitionedCall:0', dtype: 10, tensorShape: {} },
    },
  };
  const expected = { inputs: ['image: float32 [,4]'], outputs: ['ids: int64 []', 'ok: bool []'] };
  expect(told(model({ signature }))).toEqual(expected);
  expect(told(model({ userDefinedMetadata: { signature } }))).toEqual(expected);
});

test('a table that the model carries with it is no input', () => {
  const signature = {
    inputs: {
      x: { name: 'x:0', dtype: 'DT_FLOAT', tensorShape: shape(4) },
      table: { name: 'table:0', dtype: 'DT_RESOURCE', resourceId: 7 },
    },
  };
  expect(told(model({ signature }))['inputs']).toEqual(['x: float32 [4]']);
});

test('a graph without a signature: inputs are the placeholders, outputs are the nodes that no other node reads', () => {
  const nodes = [
    x,
    {
      name: 'best',
      op: 'ArgMax',
      input: ['x', 'axis'],
      attr: { T: { type: 'DT_FLOAT' }, output_type: { type: 'DT_INT64' } },
    },
    { name: 'axis', op: 'Const', attr: { dtype: { type: 'DT_INT32' } } },
    { name: 'positive', op: 'Greater', input: ['x:0', '^axis'], attr: { T: { type: 'DT_FLOAT' } } },
    {
      name: 'same',
      op: 'Identity',
      input: ['x'],
      attr: { T: { type: 'DT_FLOAT' }, _output_shapes: { list: { shape: [shape(-1, 4)] } } },
    },
    { name: 'init', op: 'NoOp' },
  ];
  expect(told(model({}, nodes))).toEqual({
    inputs: ['x: float32 [,4]'],
    outputs: ['best: int64 []', 'positive: bool []', 'same: float32 [,4]'],
  });
});

test('results whose dtype is not T, attributes that the converter omits, and second outputs', () => {
  const type = (name: string) => ({ type: name });
  const T = type('DT_FLOAT');
  const dtypes = (op: string, attr: object = {}, index = 0) => {
    const outputs = { y: { name: index === 0 ? 'y' : `y:${index}` } };
    return readSignature(model({ signature: { outputs } }, [x, { name: 'y', op, input: ['x'], attr }])).outputs[0]!
      .dtype;
  };
  for (const [op, attr, expected] of [
    ['Where', { T: type('DT_BOOL') }, ['int64']],
    ['Shape', { T }, ['int32']],
    ['Shape', { T, out_type: type('DT_INT64') }, ['int64']],
    ['ArgMax', { T }, ['int64']],
    ['ArgMin', { T, output_type: type('DT_INT32') }, ['int32']],
    ['TopKV2', { T }, ['float32', 'int32']],
    ['Unique', { T, out_idx: type('DT_INT64') }, ['float32', 'int64']],
    ['NonMaxSuppressionV3', { T, T_threshold: T }, ['int32']],
    ['NonMaxSuppressionV4', { T }, ['int32', 'int32']],
    ['NonMaxSuppressionV5', {}, ['int32', 'float32', 'int32']],
    ['StringLower', {}, ['string']],
    ['StringSplit', {}, ['int64', 'string', 'int64']],
    ['GatherV2', { Tparams: type('DT_INT32'), Tindices: type('DT_INT64'), Taxis: type('DT_INT32') }, ['int32']],
    ['LookupTableFindV2', { Tin: type('DT_STRING'), Tout: type('DT_INT64') }, ['int64']],
    ['RandomUniform', { T: type('DT_INT32'), dtype: T }, ['float32']],
    ['Cast', { SrcT: T, DstT: type('DT_BOOL') }, ['bool']],
    ['ResizeBilinear', { T: type('DT_UINT8') }, ['float32']],
    ['Split', { T: type('DT_INT32') }, ['int32', 'int32', 'int32']],
    ['While', { T: { list: { type: ['DT_INT32', 'DT_FLOAT'] } } }, ['int32', 'float32']],
  ] as const)
    for (const [index, dtype] of expected.entries()) expect(dtypes(op, attr, index), `${op}:${index}`).toBe(dtype);
  for (const [op, index] of [
    ['OfOurOwn', 0],
    ['Where', 1],
  ] as const)
    expect(dtypes(op, {}, index), op).toBeUndefined();
});

test('what declares no dtype is what the run gives', async () => {
  const result = {
    shape: [2],
    dtype: 'int32',
    data: () => Promise.resolve(Int32Array.of(7, 300)),
  } as unknown as Parameters<typeof fromTensorFlow>[0];
  expect(await fromTensorFlow(result, { name: 'y', dtype: undefined, dims: [] })).toEqual({
    dtype: 'int32',
    dims: [2],
    data: Int32Array.of(7, 300),
  });
  expect(await fromTensorFlow(result, { name: 'y', dtype: 'int64', dims: [] })).toEqual({
    dtype: 'int64',
    dims: [2],
    data: BigInt64Array.of(7n, 300n),
  });
});

test('an input of unknown dtype', () => {
  const signature = { inputs: { x: { name: 'gone:0', tensorShape: shape(4) } } };
  expect(() => readSignature(model({ signature }))).toThrow(
    expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('dtype of its input "x"') }),
  );
});

test('a dtype that TensorFlow.js does not have, and an input of unknown rank', () => {
  const entry = (dtype: string, tensorShape?: object) =>
    model({ signature: { inputs: { half: { name: 'h:0', dtype, tensorShape } } } });
  for (const dtype of ['DT_HALF', 'DT_DOUBLE', 'DT_COMPLEX64', 'DT_UINT32'])
    expect(() => readSignature(entry(dtype, shape(1)))).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining(dtype) }),
    );
  for (const unknown of [undefined, { unknownRank: true }])
    expect(() => readSignature(entry('DT_FLOAT', unknown))).toThrow(
      expect.objectContaining({ code: 'unsupported', message: expect.stringContaining('"half"') }),
    );
});

test('what computes an output: behind nodes that leave its numbers as they are, and in a fused node', () => {
  const fused = (...ops: string[]) => ({ fused_ops: { list: { s: ops.map((op) => btoa(op)) } } });
  const opOf = (...nodes: object[]) =>
    readSignature(model({ signature: { outputs: { y: { name: 'y:0', dtype: 'DT_FLOAT' } } } }, [x, ...nodes]))
      .outputs[0]!.op;
  for (const op of ['Softmax', 'Sigmoid', 'LogSoftmax', 'BiasAdd']) {
    expect(opOf({ name: 'y', op, input: ['x'] })).toBe(op);
    expect(opOf({ name: 'a', op, input: ['x'] }, { name: 'y', op: 'Identity', input: ['a:0'] })).toBe(op);
    expect(
      opOf(
        { name: 'a', op, input: ['x'] },
        { name: 'b', op: 'Reshape', input: ['a', 'x'] },
        { name: 'y', op: 'Cast', input: ['b'] },
      ),
    ).toBe(op);
  }
  expect(opOf({ name: 'y', op: '_FusedMatMul', input: ['x', 'x'], attr: fused('BiasAdd', 'Sigmoid') })).toBe('Sigmoid');
  expect(opOf({ name: 'y', op: '_FusedMatMul', input: ['x', 'x'], attr: fused('BiasAdd') })).toBe('_FusedMatMul');
  expect(opOf({ name: 'y', op: 'Identity', input: ['y'] })).toBe('Identity');
  expect(opOf()).toBeUndefined();
});
