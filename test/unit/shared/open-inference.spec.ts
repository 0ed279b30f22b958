import { expect, test } from '@playwright/test';
import {
  decodeRequest,
  decodeResponse,
  encodeRequest,
  encodeResponse,
} from '../../../src/shared/open-inference/codec.ts';
import type { Tensors } from '../../../src/contract/tensors.ts';

// The expected bytes and texts are written here by hand, after the examples of the specification, with Node's Buffer
// alone.

const arrayBuffer = (...parts: (string | Buffer)[]): ArrayBuffer =>
  new Uint8Array(Buffer.concat(parts.map((part) => Buffer.from(part as string)))).buffer;
const JSON_TYPE = new Headers({ 'content-type': 'application/json' });
const binaryHeaders = (length: number | string): Headers =>
  new Headers({ 'content-type': 'application/octet-stream', 'inference-header-content-length': String(length) });
const asText = (body: Uint8Array | string): string =>
  typeof body === 'string' ? body : Buffer.from(body).toString('latin1');

/** One output of a JSON response. */
const answer = (output: object, more = ''): ArrayBuffer =>
  arrayBuffer(`{"model_name":"m","outputs":[${JSON.stringify({ name: 'y', ...output })}${more}]}`);
const decode = (text: string): Tensors => decodeResponse(arrayBuffer(text), JSON_TYPE);

test("the specification's example of a request, as JSON", () => {
  const inputs: Tensors = {
    input0: { dtype: 'uint32', dims: [2, 2], data: new Uint32Array([1, 2, 3, 4]) },
    input1: { dtype: 'bool', dims: [3], data: new Uint8Array([1, 0, 1]) },
  };
  const { body, headers } = encodeRequest(inputs, { binary: false, outputs: ['output0'] });
  expect(headers).toEqual({ 'Content-Type': 'application/json' });
  expect(JSON.parse(asText(body))).toEqual({
    inputs: [
      { name: 'input0', shape: [2, 2], datatype: 'UINT32', data: [1, 2, 3, 4] },
      { name: 'input1', shape: [3], datatype: 'BOOL', data: [true, false, true] },
    ],
    outputs: [{ name: 'output0' }],
  });
  expect(decodeRequest(arrayBuffer(asText(body)), JSON_TYPE)).toEqual({
    id: undefined,
    inputs,
    binaryOutputs: [],
    outputs: ['output0'],
  });
});

test("Triton's example of a binary request: 16 and 3 bytes after the JSON", () => {
  const json = JSON.stringify({
    id: '42',
    inputs: [
      { name: 'input0', shape: [2, 2], datatype: 'UINT32', parameters: { binary_data_size: 16 } },
      { name: 'input1', shape: [3], datatype: 'BOOL', parameters: { binary_data_size: 3 } },
    ],
    outputs: [{ name: 'output0', parameters: { binary_data: true } }, { name: 'output1' }],
  });
  const bytes = Buffer.from('01000000020000000300000004000000010001', 'hex');
  const request = decodeRequest(arrayBuffer(json, bytes), binaryHeaders(json.length));
  expect(request).toEqual({
    id: '42',
    inputs: {
      input0: { dtype: 'uint32', dims: [2, 2], data: new Uint32Array([1, 2, 3, 4]) },
      input1: { dtype: 'bool', dims: [3], data: new Uint8Array([1, 0, 1]) },
    },
    outputs: ['output0', 'output1'],
    binaryOutputs: ['output0'],
  });

  const { body, headers } = encodeRequest(request.inputs, { binary: true });
  const length = Number(headers['Inference-Header-Content-Length']);
  expect(headers['Content-Type']).toBe('application/octet-stream');
  expect(Buffer.from(body as Uint8Array).subarray(length)).toEqual(bytes);
  expect(JSON.parse(asText(body).slice(0, length))).toEqual({
    parameters: { binary_data_output: true },
    inputs: JSON.parse(json).inputs,
  });
  expect(decodeRequest(arrayBuffer(Buffer.from(body as Uint8Array)), new Headers(headers)).binaryOutputs).toBe(true);
});

test('every datatype travels there and back, as JSON and as bytes', () => {
  const tensors: Tensors = {
    BOOL: { dtype: 'bool', dims: [2], data: new Uint8Array([0, 1]) },
    UINT8: { dtype: 'uint8', dims: [2], data: new Uint8Array([0, 255]) },
    UINT16: { dtype: 'uint16', dims: [1, 2], data: new Uint16Array([0, 65_535]) },
    UINT32: { dtype: 'uint32', dims: [2], data: new Uint32Array([0, 4_294_967_295]) },
    UINT64: { dtype: 'uint64', dims: [2], data: new BigUint64Array([0n, 18_446_744_073_709_551_615n]) },
    INT8: { dtype: 'int8', dims: [2], data: new Int8Array([-128, 127]) },
    INT16: { dtype: 'int16', dims: [2], data: new Int16Array([-32_768, 32_767]) },
    INT32: { dtype: 'int32', dims: [2], data: new Int32Array([-2_147_483_648, 2_147_483_647]) },
    // 2⁵³ + 1 is no double.
    INT64: {
      dtype: 'int64',
      dims: [3],
      data: new BigInt64Array([-9_223_372_036_854_775_808n, 9_007_199_254_740_993n, 7n]),
    },
    FP32: { dtype: 'float32', dims: [2, 1], data: new Float32Array([0.1, -3.4028235e38]) },
    FP64: { dtype: 'float64', dims: [2], data: new Float64Array([1 / 3, 5e-324]) },
    BYTES: { dtype: 'string', dims: [3], data: ['', 'größer "1234567890123456789"', '\uFEFFx'] },
    scalar: { dtype: 'float32', dims: [], data: new Float32Array([1.5]) },
    empty: { dtype: 'int64', dims: [2, 0], data: new BigInt64Array() },
    ['__proto__']: { dtype: 'uint8', dims: [1], data: new Uint8Array([1]) },
  };
  for (const binary of [false, true, ['INT64', 'BYTES']] as const) {
    const { body, headers } = encodeResponse(tensors, { model: 'm', version: '1', id: '7', binary });
    const bytes = typeof body === 'string' ? arrayBuffer(body) : body.buffer;
    expect(decodeResponse(bytes, new Headers(headers)), String(binary)).toEqual(tensors);
  }
  const half: Tensors = { x: { dtype: 'float16', dims: [2], data: new Uint16Array([0x3c00, 0x7c00]) } };
  const { body, headers } = encodeRequest(half, { binary: true });
  expect(decodeRequest((body as Uint8Array<ArrayBuffer>).buffer, new Headers(headers)).inputs).toEqual(half);
  // Each dtype has the name that the specification's list gives it.
  const json = encodeResponse(tensors, { model: 'm', binary: false }).body as string;
  for (const { name, datatype } of JSON.parse(json).outputs.slice(0, 12)) expect(datatype).toBe(name);
});

test('a text in bytes is its length and its UTF-8', () => {
  const { body, headers } = encodeRequest({ t: { dtype: 'string', dims: [2], data: ['é', ''] } }, { binary: true });
  const length = Number(headers['Inference-Header-Content-Length']);
  expect(
    Buffer.from(body as Uint8Array)
      .subarray(length)
      .toString('hex'),
  ).toBe('02000000c3a900000000');
});

test('lists in lists are read if they are those of the shape', () => {
  const read = (data: unknown, shape: number[]): Tensors =>
    decodeResponse(answer({ shape, datatype: 'FP32', data }), JSON_TYPE);
  expect(
    read(
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      [3, 2],
    )['y']!.data,
  ).toEqual(new Float32Array([1, 2, 3, 4, 5, 6]));
  expect(() =>
    read(
      [
        [1, 2, 3],
        [4, 5, 6],
      ],
      [3, 2],
    ),
  ).toThrow(/a list of dim 0 has 2 elements, and its shape is \[3, 2\]/);
  expect(() => read([[1, 2], 3, 4], [3, 2])).toThrow(/dim 0 has 3, expected a list of 2/);
});

test('the end of the JSON is found where the page may not read the header', () => {
  const json = '{"outputs":[{"name":"}\\"{","shape":[1],"datatype":"INT16","parameters":{"binary_data_size":2}}]}';
  const headers = new Headers({ 'content-type': 'application/octet-stream' });
  expect(decodeResponse(arrayBuffer(json, Buffer.from([0x7b, 0x7d])), headers)).toEqual({
    '}"{': { dtype: 'int16', dims: [1], data: new Int16Array([0x7d7b]) },
  });
});

test('integers keep all digits; texts that look like one stay texts', () => {
  const outputs = decode(
    '{"outputs":[{"name":"i","shape":[2],"datatype":"INT64","data":[9007199254740993,-9223372036854775808]},' +
      '{"name":"f","shape":[3],"datatype":"FP64","data":[12345678901234567890,0.12345678901234567,1e-0000000000000005]},' +
      '{"name":"t","shape":[2],"datatype":"BYTES","data":["1234567890123456 , 1234567890123456","\\"1234567890123456"]}]}',
  );
  expect(outputs['i']!.data).toEqual(new BigInt64Array([9_007_199_254_740_993n, -9_223_372_036_854_775_808n]));
  expect(outputs['f']!.data).toEqual(
    new Float64Array([Number('12345678901234567890'), Number('0.12345678901234567'), 1e-5]),
  );
  expect(outputs['t']!.data).toEqual(['1234567890123456 , 1234567890123456', '"1234567890123456']);
});

test('a wrong answer is an error that says what is wrong', () => {
  const one = { shape: [2], datatype: 'FP32', data: [1, 2] };
  const cases: [ArrayBuffer, RegExp][] = [
    [arrayBuffer('<!doctype html><p>Bad gateway</p>'), /it is not JSON/],
    [arrayBuffer(''), /it is not JSON/],
    [arrayBuffer('{"outputs":[{"name":"y","shape":[2],"datatype":"FP32","da'), /it is not JSON/],
    [arrayBuffer('{"outputs":[{"name":"y","shape":[1],"datatype":"FP32","data":[NaN]}]}'), /neither NaN nor infinity/],
    [arrayBuffer(Buffer.from([0xff, 0xfe])), /not UTF-8/],
    [arrayBuffer('[]'), /expected a mapping with "outputs"/],
    [arrayBuffer('{"predictions":[1]}'), /"outputs" is undefined, expected a list/],
    [arrayBuffer('{"outputs":[1]}'), /outputs\[0\] is 1, expected a tensor with a name/],
    [answer(one, `,${JSON.stringify({ name: 'y', ...one })}`), /two tensors "y"/],
    [
      arrayBuffer(JSON.stringify({ outputs: Array.from({ length: 1001 }, () => one) })),
      /"outputs" has 1001 tensors, expected at most 1000/,
    ],
    [answer({ ...one, shape: Array(65).fill(1) }), /tensor "y": its shape has 65 dims, expected at most 64/],
    [answer({ ...one, datatype: 'BF16' }), /tensor "y": its datatype is "BF16", expected one of/],
    [answer({ ...one, datatype: 'toString' }), /its datatype is "toString"/],
    [answer({ ...one, datatype: 'FP16' }), /FP16 has no form in JSON/],
    [answer({ ...one, shape: [3] }), /it has 2 elements, and its shape \[3\] needs 3/],
    [answer({ ...one, shape: [-1] }), /its shape is \[-1\], expected a list of integers ≥ 0/],
    [answer({ ...one, shape: [2 ** 40, 2 ** 40, 2 ** 40] }), /it has 2 elements/],
    [answer({ ...one, shape: 2 }), /its shape is 2/],
    [answer({ ...one, data: 'AAAA' }), /its data is "AAAA", expected a list/],
    [answer({ ...one, data: undefined }), /its data is undefined/],
    [answer({ ...one, data: [1, null] }), /its element 1 is null, which is no FP32/],
    [answer({ ...one, data: [1, '2'] }), /its element 1 is "2", which is no FP32/],
    [answer({ ...one, data: [1, 1e300] }), /its element 1 is 1e\+300, which is no FP32/],
    [answer({ ...one, datatype: 'UINT8', data: [1, 256] }), /its element 1 is 256, which is no UINT8/],
    [answer({ ...one, datatype: 'INT32', data: [1, 1.5] }), /its element 1 is 1.5, which is no INT32/],
    [answer({ ...one, datatype: 'INT64', data: [1, 1e22] }), /which is no INT64/],
    [answer({ ...one, datatype: 'BOOL', data: [true, 2] }), /its element 1 is 2, which is no BOOL/],
    [answer({ ...one, datatype: 'BYTES', data: ['a', 2] }), /its element 1 is 2, which is no BYTES/],
    [answer({ ...one, parameters: { binary_data_size: 8 } }), /binary_data_size of 8, and 0 bytes are left/],
    [answer({ ...one, parameters: { binary_data_size: -8 } }), /binary_data_size is -8/],
    [answer({ ...one, parameters: { shared_memory_region: 'r' } }), /shared memory/],
    [
      arrayBuffer('{"outputs":[{"name":"y","shape":[1],"datatype":"UINT64","data":[18446744073709551616]}]}'),
      /is 18446744073709551616, which is no UINT64/,
    ],
  ];
  for (const [body, message] of cases)
    expect(() => decodeResponse(body, JSON_TYPE), String(message)).toThrow(
      expect.objectContaining({ code: 'inference-failed', message: expect.stringMatching(message) }),
    );
});

test('lengths of a binary answer must match', () => {
  const entry = (size: number, datatype = 'FP32'): string =>
    `{"outputs":[{"name":"y","shape":[2],"datatype":"${datatype}","parameters":{"binary_data_size":${size}}}]}`;
  const check = (json: string, bytes: Buffer, length: number | string, message: RegExp): void =>
    expect(() => decodeResponse(arrayBuffer(json, bytes), binaryHeaders(length)), String(message)).toThrow(
      expect.objectContaining({ code: 'inference-failed', message: expect.stringMatching(message) }),
    );
  const json = entry(8);
  check(json, Buffer.alloc(5), json.length, /binary_data_size of 8, and 5 bytes are left/);
  check(json, Buffer.alloc(9), json.length, /1 bytes of the body belong to no tensor/);
  check(entry(4), Buffer.alloc(4), json.length, /it has 4 bytes, and its shape \[2\] needs 8/);
  check(json, Buffer.alloc(8), 10_000, /Inference-Header-Content-Length is 10000, and the body has/);
  check(json, Buffer.alloc(8), '-1', /Inference-Header-Content-Length is -1/);
  check(json, Buffer.alloc(8), 10, /it is not JSON/);
  check(entry(2, 'BOOL'), Buffer.from([1, 2]), json.length, /neither 0 nor 1/);
  const text = entry(8, 'BYTES');
  check(text, Buffer.from('0400000061626364', 'hex'), text.length, /it has 1 texts, and its shape needs 2/);
  check(text, Buffer.from('ffffffff61626364', 'hex'), text.length, /its text 0 runs past the end/);
  check(text, Buffer.from('01000000ff000000', 'hex'), text.length, /its text 0 is not UTF-8/);
});

test('what JSON cannot hold is refused, there and back', () => {
  const encode = (data: Float32Array): unknown =>
    encodeRequest({ x: { dtype: 'float32', dims: [2], data } }, { binary: false });
  expect(() => encode(new Float32Array([1, NaN]))).toThrow(
    expect.objectContaining({
      code: 'invalid-input',
      message:
        'The request: tensor "x": the value at 1 is NaN, which JSON cannot hold: use the binary tensor extension.',
    }),
  );
  expect(() =>
    encodeResponse({ y: { dtype: 'float16', dims: [1], data: new Uint16Array(1) } }, { model: 'm', binary: false }),
  ).toThrow(/FP16 has no form in JSON/);
});

test('an integer of very many digits is refused in few words', () => {
  for (const datatype of ['INT64', 'UINT64', 'INT32']) {
    const body = arrayBuffer(
      `{"inputs":[{"name":"i","shape":[1],"datatype":"${datatype}","data":[${'9'.repeat(10_000)}]}]}`,
    );
    expect(() => decodeRequest(body, JSON_TYPE)).toThrow(
      expect.objectContaining({ message: expect.stringMatching(/^.{0,60}its element 0 is 9{20,200}…, which is no /) }),
    );
  }
});

test('a wrong request is the caller’s error', () => {
  for (const [json, message] of [
    ['{"id":1,"inputs":[]}', /"id" is 1/],
    ['{"inputs":[],"outputs":{}}', /"outputs" is/],
    ['{"inputs":[],"outputs":["y"]}', /outputs\[0\] is "y"/],
    ['null', /expected a mapping with "inputs"/],
  ] as const)
    expect(() => decodeRequest(arrayBuffer(json), JSON_TYPE)).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringMatching(message) }),
    );
});
