import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { prepare } from '../../../../src/page/requests/inputs.ts';
import { prepareRows } from '../../../../src/page/requests/requester.ts';
import { PredictionError } from '../../../../src/contract/errors.ts';

function detached(): object {
  const array = new Float32Array(3);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}

function cyclic(): object {
  const object: Record<string, unknown> = {};
  return Object.assign(object, { list: [object, { object }] });
}

function deep(): unknown {
  let value: unknown = 1;
  for (let i = 0; i < 100_000; i++) value = [value];
  return value;
}

/** Makes an input: fast-check itself must not look at it. */
type Make = () => unknown;

const strange: fc.Arbitrary<Make> = fc.oneof(
  fc.constantFrom<Make>(detached, cyclic, deep),
  fc
    .constantFrom<unknown>(Symbol('s'), 1n, undefined, null, new Map(), new Date(NaN), new WeakMap(), /x/)
    .map((value) => () => value),
  fc.constant(() => () => 1),
  fc.constant(() => new Uint8Array(new SharedArrayBuffer(4))),
);
const anything: fc.Arbitrary<Make> = fc.oneof(
  fc
    .anything({ withBigInt: true, withTypedArray: true, withSparseArray: true, withNullPrototype: true })
    .map((value) => () => value),
  strange,
  fc.tuple(fc.oneof(fc.string(), fc.constant('__proto__')), strange).map(
    ([key, make]) =>
      () =>
        Object.fromEntries([[key, make()]]),
  ),
  fc.array(strange).map((makes) => () => makes.map((make) => make())),
);

test('an invalid input of any kind is prepared, or fails as invalid-input', () => {
  fc.assert(
    fc.property(anything, fc.boolean(), (make, transfer) => {
      const rows = prepareRows([make()], { transfer, signals: [], timeout: undefined });
      if (rows instanceof Promise) throw new Error('nothing here is waited for');
      const [row] = rows;
      if (row instanceof PredictionError) {
        expect(row.code).toBe('invalid-input');
        expect(row.message.length).toBeGreaterThan(20);
        return;
      }
      row!.snapshot();
      row!.release();
    }),
    { numRuns: 500 },
  );
});

test('rows that cannot be read fail alone', () => {
  fc.assert(
    fc.property(fc.array(anything, { minLength: 1, maxLength: 4 }), (makes) => {
      const rows = prepareRows([...makes.map((make) => make()), 'a text'], {
        transfer: false,
        signals: [],
        timeout: undefined,
      });
      if (rows instanceof Promise) throw new Error('nothing here is waited for');
      const last = rows.at(-1)!;
      if (last instanceof PredictionError) throw last;
      expect(last.message()).toEqual({ value: 'a text', transferables: [] });
      expect(rows).toHaveLength(makes.length + 1);
    }),
    { numRuns: 100 },
  );
});

test('a message equals the input, however deeply it is nested', () => {
  const data = fc.oneof(
    fc.jsonValue(),
    fc.uint8Array(),
    fc.float32Array({ noNaN: true }),
    fc.bigInt64Array(),
    fc.dictionary(fc.oneof(fc.string(), fc.constant('__proto__')), fc.uint8ClampedArray()),
  );
  fc.assert(
    fc.property(data, (input) => {
      const prepared = prepare(input);
      if (prepared instanceof Promise) throw new Error('nothing here is waited for');
      const before = structuredClone(input);
      const { value, transferables } = prepared.message()!;
      prepared.snapshot();
      expect(structuredClone(value, { transfer: [...transferables] })).toEqual(before);
      expect(input).toEqual(before);
      expect(structuredClone(prepared.message()!.value)).toEqual(before);
    }),
  );
});

test('an array of a derived class is sent as the built-in one, and its constructor is never called', () => {
  let calls = 0;
  class Mine extends Float32Array {
    constructor(length: number) {
      super(length);
      calls++;
    }
  }
  const prepared = prepare(new Mine(2));
  const before = calls;
  const message = prepared instanceof Promise ? undefined : prepared.message();
  expect(message!.value).toEqual(new Float32Array(2));
  expect(Object.getPrototypeOf(message!.value)).toBe(Float32Array.prototype);
  expect(calls).toBe(before);
});

test('an array, small or not, is copied, and the copy is transferred', () => {
  for (const input of [
    new Float32Array(28 * 28),
    new Uint8Array(8192),
    new Uint8Array(8193),
    new Uint8Array(new ArrayBuffer(8192), 8, 8),
    new Uint8Array(new SharedArrayBuffer(8)),
    new DataView(new ArrayBuffer(8)),
  ]) {
    const prepared = prepare({ data: input });
    if (prepared instanceof Promise) throw new Error('nothing here is waited for');
    const { value, transferables } = prepared.message()!;
    const { data } = value as { readonly data: Uint8Array };
    expect(transferables).toEqual([data.buffer]);
    expect(data.buffer).not.toBe(input.buffer);
    expect(data.byteLength).toBe(input.byteLength);
  }
});

test('rows of one message have memory of their own, also if the caller passes one small array twice', async () => {
  const shared = Float32Array.of(1, 2);
  const rows = await prepareRows([shared, shared, { data: new Uint8Array(shared.buffer) }], {
    signals: [],
    transfer: false,
    timeout: undefined,
  });
  const sent = rows.map((row) => (row instanceof PredictionError ? row : row.message()!.value));
  const [first, second, third] = structuredClone(sent) as [Float32Array, Float32Array, { data: Uint8Array }];
  first.fill(9);
  expect(second).toEqual(shared);
  expect(third.data).toEqual(new Uint8Array(shared.buffer));
});

test('a URL is downloaded once, and a failure says which and why', async () => {
  const prepared = await prepare({ data: new URL('data:image/png;base64,AAEC') });
  const sent = (): Blob => (prepared.message()!.value as { data: Blob }).data;
  expect([...new Uint8Array(await sent().arrayBuffer())]).toEqual([0, 1, 2]);
  expect(sent()).toBe(sent());
  await expect(prepare(new URL('http://127.0.0.1:1/cat.png'))).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/127\.0\.0\.1:1\/cat\.png could not be downloaded: .*Access-Control-Allow-Origin/),
  });
  await expect(prepare([new URL('no-such-scheme:x'), 1])).rejects.toMatchObject({ code: 'invalid-input' });
});

test('a view is refused if its resizable buffer has shrunk; a length-tracking view is sent', () => {
  type Resizable = ArrayBuffer & { resize(bytes: number): void };
  const shrunk = (view: (buffer: ArrayBuffer) => object): object => {
    const buffer = new (ArrayBuffer as unknown as new (bytes: number, options: object) => Resizable)(16, {
      maxByteLength: 16,
    });
    const made = view(buffer);
    buffer.resize(4);
    return made;
  };
  for (const transfer of [false, true]) {
    for (const view of [
      (buffer: ArrayBuffer) => new Uint8Array(buffer, 0, 16),
      (buffer: ArrayBuffer) => new DataView(buffer, 8, 8),
      (buffer: ArrayBuffer) => new Float32Array(buffer, 8),
    ])
      expect(() => prepare(shrunk(view), { transfer })).toThrow(expect.objectContaining({ code: 'invalid-input' }));
    const prepared = prepare(
      shrunk((buffer) => new Uint8Array(buffer)),
      { transfer },
    ) as { message(): { value: Uint8Array } };
    expect(prepared.message().value).toHaveLength(4);
  }
});

test('lists are sent as they are: with gaps, with themselves, and with an object that occurs twice', async () => {
  const both = { n: 1 };
  const list: unknown[] = [1, , 'a', null, undefined, both, [both]]; // eslint-disable-line no-sparse-arrays
  list.push(list);
  const { value } = (await prepare(list)).message()! as { readonly value: unknown[] };
  expect(value).not.toBe(list);
  expect(1 in value).toBe(false);
  expect(value.slice(0, 6)).toEqual([1, undefined, 'a', null, undefined, { n: 1 }]);
  expect((value[6] as unknown[])[0]).toBe(value[5]);
  expect(value[7]).toBe(value);
});
