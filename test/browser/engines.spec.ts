import { expect, test } from './fixtures.ts';
import { goldens, unable, valuesOf, type GoldenTensor } from './goldens.ts';

/** Every tiny model on every backend, against ONNX Runtime in Python. */
for (const [model, cases] of Object.entries(goldens)) {
  test(`${model} answers as ONNX Runtime in Python does`, async ({ open, backend }) => {
    test.skip(unable[model]?.[backend] !== undefined, unable[model]?.[backend]);
    // `slow` has a case of seconds that other tests need; here the quick one will do.
    const some = model === 'slow' ? cases.slice(0, 1) : cases;
    const page = await open();
    const inputs = some.map((one) => Object.fromEntries(Object.entries(one.inputs).map(([name, tensor]) => [name, { ...tensor, data: valuesOf(tensor) }])));
    const outputs = await page.evaluate(
      async ({ url, backend, inputs }) => {
        const arrays: Record<string, new (length: number) => Float32Array> = {
          float32: Float32Array,
          float16: Uint16Array as never,
          int32: Int32Array as never,
          int64: BigInt64Array as never,
          uint8: Uint8Array as never,
          bool: Uint8Array as never,
        };
        const tensor = ({ dtype, dims, data }: GoldenTensor) => {
          if (dtype === 'string') return { dtype, dims, data: data as string[] };
          const array = new arrays[dtype]!(data!.length) as unknown as Record<number, unknown>;
          data!.forEach((value, index) => (array[index] = dtype === 'int64' ? BigInt(value as string) : Number(value)));
          return { dtype, dims, data: array };
        };
        const client = window.tabserve.connect(window.workers.raw, { model: url, backends: [backend] });
        await client.initialize();
        const answers = [];
        for (const feeds of inputs) {
          const answer = (await client.predict(Object.fromEntries(Object.entries(feeds).map(([name, value]) => [name, tensor(value)])) as never)) as Record<string, GoldenTensor>;
          answers.push(Object.entries(answer).map(([name, { dtype, dims, data }]) => ({ name, dtype, dims, data: Array.from(data!, String) })));
        }
        return answers;
      },
      { url: `/test/models/${model}.onnx`, backend, inputs: inputs as Record<string, GoldenTensor>[] },
    );
    for (const [index, one] of some.entries()) {
      for (const [name, expected] of Object.entries(one.outputs)) {
        const got = outputs[index]!.find((output) => output.name === name);
        expect({ name, dtype: got?.dtype, dims: got?.dims }).toEqual({ name, dtype: expected.dtype, dims: expected.dims });
        for (const [i, value] of valuesOf(expected).entries()) expectClose(got!.data[i]!, value, `${name}[${i}]`);
      }
    }
  });
}

function expectClose(got: string, expected: number | string | boolean, what: string): void {
  if (typeof expected === 'number' && Number.isFinite(expected)) expect(Math.abs(Number(got) - expected), `${what}: ${got} for ${expected}`).toBeLessThanOrEqual(1e-4);
  else expect(Object.is(Number(got), Number(expected)) || got === String(expected), `${what}: ${got} for ${String(expected)}`).toBe(true);
}

test('calls that overlap do not disturb one another', async ({ open, backend }) => {
  const page = await open();
  const answers = await page.evaluate(async (backend) => {
    const client = window.tabserve.connect(window.workers.raw, { model: '/test/models/two_inputs.onnx', backends: [backend] });
    await client.initialize();
    const feeds = (n: number) => ({
      a: { dtype: 'float32', dims: [1, 4], data: new Float32Array(4).fill(n) },
      b: { dtype: 'float32', dims: [1, 4], data: new Float32Array(4).fill(2) },
    });
    const results = (await Promise.all([1, 2, 3, 4, 5].map((n) => client.predict(feeds(n) as never)))) as Record<string, { data: Float32Array }>[];
    return results.map(({ sum, product }) => [sum!.data[3], product!.data[0]]);
  }, backend);
  expect(answers).toEqual([1, 2, 3, 4, 5].map((n) => [n + 2, n * 2]));
});
