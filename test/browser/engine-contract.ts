import type { Page, TestType } from '@playwright/test';
import { expect } from '@playwright/test';
import type { CandidateName } from '../../src/contract/backends.ts';
import type { GoldenFeeds } from './fixtures.ts';
import { filesOf, goldens, unable, valuesOf } from './goldens.ts';

type BackendName = 'wasm' | 'webgl' | 'webgpu' | 'cpu';

/** A page, or what stands for it under Node: it evaluates a function where `window` has an engine. */
export type Realm = Pick<Page, 'evaluate'>;

/** The contract suite's tests take these two fixtures. */
interface Fixtures {
  readonly backend: BackendName;
  readonly open: () => Promise<Realm>;
}

/** An engine of the contract suite, and its candidate on each backend. */
export interface EngineOfSuite {
  readonly of: string;
  readonly on: (backend: BackendName) => CandidateName;
}

/** Defines the tests of what every engine on every backend must do. */
export function engineContract(test: TestType<Fixtures, object>, { of, on }: EngineOfSuite): void {
  test.describe(of, () => {
    // All in one worker: to load an engine takes longer than to run a tiny model. What is missing here, the table below
    // lists.
    test('every model answers as ONNX Runtime in Python does @firefox', async ({ open, backend }) => {
      test.slow(backend !== 'wasm');
      const candidate = on(backend);
      const jobs = Object.entries(goldens)
        .filter(([model]) => unable[model]![candidate] === undefined)
        .flatMap(([model, cases]) =>
          filesOf(model, candidate).map((url) => ({
            url,
            // `slow` has a case of seconds that other tests need; here the quick one will do.
            cases: model === 'slow' ? cases.slice(0, 1) : cases,
          })),
        );
      const page = await open();
      const answers = await run(
        page,
        candidate,
        jobs.map(({ url, cases }) => ({ url, feeds: cases.map(({ inputs }) => explicit(inputs)) })),
      );
      for (const [at, { url, cases }] of jobs.entries())
        await test.step(url, () => {
          for (const [index, { outputs }] of cases.entries()) expectOutputs(answers[at]![index]!, outputs);
        });
    });

    test('inputs and outputs are as the model declares them', async ({ open, backend }) => {
      test.skip(backend === 'webgpu', 'the engine reads the model as on WASM');
      const page = await open();
      const isFixed = unable['affine']![on(backend)] !== undefined;
      for (const url of isFixed ? [] : filesOf('affine', on(backend))) {
        expect(await describe(page, url, on(backend))).toEqual({
          inputs: ['x: float32 [?,4]'],
          outputs: ['y: float32 [?,3]'],
        });
      }
      for (const url of filesOf('two_inputs', on(backend))) {
        expect(await describe(page, url, on(backend))).toEqual({
          inputs: ['a: float32 [1,4]', 'b: float32 [1,4]'],
          outputs: ['sum: float32 [1,4]', 'product: float32 [1,4]'],
        });
      }
      const [dtypes] = filesOf('dtypes', on(backend));
      expect(await describe(page, dtypes!, on(backend))).toEqual({
        inputs: [
          'in_float32: float32 [4]',
          'in_int32: int32 [4]',
          'in_int64: int64 [4]',
          'in_uint8: uint8 [4]',
          'in_bool: bool [4]',
        ],
        outputs: [
          'out_float32: float32 [4]',
          'out_int32: int32 [4]',
          'out_int64: int64 [4]',
          'out_uint8: uint8 [4]',
          'out_bool: bool [4]',
          'float32_as_int32: int32 [4]',
          'uint8_as_float32: float32 [4]',
        ],
      });
    });

    test('an invalid feed: the error names the feed, what was expected and what was given', async ({
      open,
      backend,
    }) => {
      test.skip(backend === 'webgpu', 'the check is the same as on WASM');
      const page = await open();
      for (const url of filesOf('two_inputs', on(backend))) {
        const { errors, after } = await page.evaluate(
          async ({ candidate, url }) => {
            const bare = await window.engine(candidate);
            const { value: id } = await bare.open(url);
            const floats = { dtype: 'float32', dims: [1, 4], data: Float32Array.of(1, 2, 3, 4) } as const;
            const wrong: Record<string, object> = {
              missing: { a: floats },
              unknown: { a: floats, b: floats, c: floats },
              dtype: { a: floats, b: { dtype: 'int32', dims: [1, 4], data: new Int32Array(4) } },
              dims: { a: floats, b: { ...floats, dims: [4, 1] } },
              rank: { a: floats, b: { ...floats, dims: [4] } },
              length: { a: floats, b: { ...floats, data: new Float32Array(3) } },
              array: { a: floats, b: { ...floats, data: new Float64Array(4) } },
            };
            const errors: Record<string, { code: unknown; message: string }> = {};
            for (const [how, feeds] of Object.entries(wrong)) {
              const { error } = await bare.run(id!, feeds as never);
              errors[how] = { code: error!.code, message: error!.message };
            }
            const { value } = await bare.run(id!, { a: floats, b: floats });
            return { errors, after: Array.from(value!['sum']!.data as Float32Array) };
          },
          { candidate: on(backend), url },
        );
        expect(errors['missing']).toEqual({
          code: 'invalid-input',
          message: 'Input "b" is missing: expected float32 [1, 4].',
        });
        expect(errors['unknown']).toEqual({
          code: 'invalid-input',
          message: expect.stringMatching(/no input "c".*"a", "b"/),
        });
        expect(errors['dtype']).toEqual({
          code: 'invalid-input',
          message: 'Input "b" expects float32 [1, 4], got int32 [1, 4].',
        });
        expect(errors['dims']).toEqual({
          code: 'invalid-input',
          message: 'Input "b" expects float32 [1, 4], got float32 [4, 1].',
        });
        expect(errors['rank']).toEqual({
          code: 'invalid-input',
          message: 'Input "b" expects float32 [1, 4], got float32 [4].',
        });
        expect(errors['length']).toEqual({
          code: 'invalid-input',
          message: expect.stringMatching(/"b".*4 elements, but 3/),
        });
        expect(errors['array']).toEqual({
          code: 'invalid-input',
          message: expect.stringMatching(/"b".*Float32Array, got a Float64Array/),
        });
        expect(after).toEqual([2, 4, 6, 8]);
      }
    });

    test('two sessions with overlapping runs: after one is disposed of, the other still runs', async ({
      open,
      backend,
    }) => {
      const page = await open();
      const [affine] = filesOf('affine_fixed', on(backend));
      const [two] = filesOf('two_inputs', on(backend));
      const answer = await page.evaluate(
        async ({ candidate, affine, two }) => {
          const bare = await window.engine(candidate);
          // Opened at once too.
          const [first, second] = (await Promise.all([bare.open(affine), bare.open(two)])).map(
            ({ value }) => value!,
          ) as [number, number];
          const floats = (n: number) =>
            ({ dtype: 'float32', dims: [1, 4], data: new Float32Array(4).fill(n) }) as const;
          const runFirst = async (n: number) =>
            Array.from((await bare.run(first, { x: floats(n) })).value!['y']!.data as Float32Array);
          const runSecond = async (n: number) =>
            Array.from(
              (await bare.run(second, { a: floats(n), b: floats(2) })).value!['product']!.data as Float32Array,
            );
          const alone = await runFirst(1);
          const overlapped = await Promise.all([runFirst(1), runSecond(3), runFirst(1), runSecond(4), runSecond(5)]);
          const underWay = bare.run(first, { x: floats(1) });
          const disposing = Promise.all([bare.dispose(first), bare.dispose(first)]);
          const late = bare.run(first, { x: floats(1) });
          await disposing;
          return {
            alone,
            overlapped,
            underWay: Array.from((await underWay).value!['y']!.data as Float32Array),
            late: (await late).error?.code,
            later: (await bare.run(first, { x: floats(1) })).error?.code,
            other: await runSecond(6),
          };
        },
        { candidate: on(backend), affine: affine!, two: two! },
      );
      expect(answer.overlapped).toEqual([answer.alone, [6, 6, 6, 6], answer.alone, [8, 8, 8, 8], [10, 10, 10, 10]]);
      expect(answer.underWay).toEqual(answer.alone);
      expect([answer.late, answer.later]).toEqual(['disposed', 'disposed']);
      expect(answer.other).toEqual([12, 12, 12, 12]);
    });
  });
}

/** Defines the tests of what TensorFlow.js must do on every backend. */
export function tensorFlowContract(test: TestType<Fixtures, object>, { of, on }: EngineOfSuite): void {
  test.describe(of, () => {
    test('integers beyond what it computes with are refused, by name and value', async ({ open, backend }) => {
      const candidate = on(backend);
      const page = await open();
      const answer = await page.evaluate(
        async ({ candidate, wide, url }) => {
          const bare = await window.engine(candidate);
          const { value: id } = await bare.open(url);
          const run = async (int32: number, int64: bigint) => {
            const { error, value } = await bare.run(id!, {
              in_int32: { dtype: 'int32', dims: [4], data: Int32Array.of(0, 1, int32, 3) },
              in_int64: { dtype: 'int64', dims: [4], data: BigInt64Array.of(0n, int64, 2n, 3n) },
            });
            return error
              ? `${error.code as string}: ${error.message}`
              : [value!['out_int32']!.data[2], value!['out_int64']!.data[1]].map(String);
          };
          return {
            above: await run(1, 2n ** 31n),
            below: await run(1, -(2n ** 31n) - 1n),
            exact: await run(1, 9007199254740993n),
            edge: await run(wide, BigInt(wide)),
            int32: await run(2147483647, 1n),
          };
        },
        {
          candidate,
          url: filesOf('wide_integers', candidate)[0]!,
          wide: candidate === 'tfjs/webgl' ? 2 ** 24 : 2 ** 31 - 1,
        },
      );
      expect(answer.above).toMatch(/^invalid-input: Input "in_int64" holds 2147483648 at 1/);
      expect(answer.below).toMatch(/^invalid-input: Input "in_int64" holds -2147483649 at 1/);
      expect(answer.exact).toMatch(/^invalid-input: Input "in_int64" holds 9007199254740993 at 1/);
      const [edge] = answer.edge;
      expect(answer.edge).toEqual([edge, edge]);
      // WebGL keeps integers as floats.
      if (candidate === 'tfjs/webgl')
        expect(answer.int32).toMatch(/^invalid-input: Input "in_int32" holds 2147483647 at 2/);
      else expect(answer.int32).toEqual(['2147483647', '1']);
    });

    test('a dtype that it lacks is refused when the model is opened', async ({ open, backend }) => {
      test.skip(backend === 'webgpu', 'the check is the same as on WASM');
      const page = await open();
      const error = await page.evaluate(
        async ({ candidate, url }) => (await (await window.engine(candidate)).open(url)).error!,
        { candidate: on(backend), url: filesOf('float16', on(backend))[0]! },
      );
      expect(error).toMatchObject({ code: 'unsupported', message: expect.stringMatching(/"x".*DT_HALF/) });
    });

    test('no tensor is left after ten runs, after failed runs, and after dispose', async ({ open, backend }) => {
      const candidate = on(backend);
      const page = await open();
      test.slow(candidate === 'tfjs/webgpu');
      const all = ['tiny_classifier_batch', 'two_inputs', 'dtypes', 'strings', 'decisions', 'where', 'branch', 'slow'];
      const models = candidate === 'tfjs/webgpu' ? ['tiny_classifier_batch', 'where', 'branch'] : all;
      const jobs = models.flatMap((model) =>
        filesOf(model, candidate).map((url) => ({ url, feeds: explicit(goldens[model]![0]!.inputs) })),
      );
      const counts = await page.evaluate(
        async ({ candidate, jobs }) => {
          const bare = await window.engine(candidate);
          const empty = await bare.memory();
          const counts = [];
          for (const { url, feeds } of jobs) {
            const { value: id } = await bare.open(url);
            const tensors = window.tensors(feeds);
            const opened = await bare.memory();
            const { error } = await bare.repeat(id!, tensors, 10);
            const after = await bare.memory();
            counts.push({ url, error: error?.message, opened, after });
          }
          // Fails on the way in, when some of its tensors are made.
          const { value: wide } = await bare.open('/test/models/tfjs/wide_integers.json');
          const { value: broken } = await bare.open('/test/models/tfjs/missing_op.json');
          const before = await bare.memory();
          const failed = [
            await bare.run(wide!, {
              in_int32: { dtype: 'int32', dims: [4], data: new Int32Array(4) },
              in_int64: { dtype: 'int64', dims: [4], data: new BigInt64Array(4).fill(2n ** 40n) },
            }),
            await bare.run(broken!, { x: { dtype: 'float32', dims: [1, 4], data: new Float32Array(4) } }),
          ].map(({ error }) => error?.code);
          const afterFailures = await bare.memory();
          for (let id = 0; id <= broken!; id++) await bare.dispose(id);
          return { counts, empty, before, failed, afterFailures, end: await bare.memory() };
        },
        { candidate, jobs },
      );
      expect(counts.counts).toHaveLength(jobs.length);
      for (const { url, error, opened, after } of counts.counts) {
        expect({ url, error, numTensors: after.numTensors }).toEqual({
          url,
          error: undefined,
          numTensors: opened.numTensors,
        });
        // TensorFlow.js on cpu takes the bytes of strings off twice.
        expect(after.numBytes, url).toBeLessThanOrEqual(opened.numBytes);
        if (!url.includes('strings')) expect(after.numBytes, url).toBe(opened.numBytes);
      }
      expect(counts.failed).toEqual(['invalid-input', 'inference-failed']);
      expect(counts.afterFailures).toEqual(counts.before);
      expect(counts.end.numTensors).toBe(counts.empty.numTensors);
      expect(counts.end.numBytes).toBeLessThanOrEqual(counts.empty.numBytes);
    });
  });
}

export type Values = {
  readonly name: string;
  readonly dtype: string;
  readonly dims: readonly number[];
  readonly data: readonly string[];
};

/** Runs models in one engine, one after another: for each the answers to its feeds. */
async function run(
  page: Realm,
  candidate: CandidateName,
  jobs: readonly { readonly url: string; readonly feeds: readonly GoldenFeeds[] }[],
): Promise<Values[][][]> {
  return await page.evaluate(
    async ({ candidate, jobs }) => {
      const bare = await window.engine(candidate);
      const answers: Values[][][] = [];
      for (const { url, feeds } of jobs) {
        const opened = await bare.open(url);
        if (opened.error) throw new Error(`${url}: ${opened.error.message}`);
        const outputs: Values[][] = [];
        for (const one of feeds) {
          const { value, error } = await bare.run(opened.value, window.tensors(one));
          if (error) throw new Error(`${url}: ${error.message}`);
          outputs.push(
            Object.entries(value).map(([name, { dtype, dims, data }]) => ({
              name,
              dtype,
              dims: [...dims],
              data: Array.from(data as ArrayLike<unknown>, String),
            })),
          );
        }
        await bare.dispose(opened.value);
        answers.push(outputs);
      }
      return answers;
    },
    { candidate, jobs },
  );
}

/** What a session says of its model: `name: dtype [dims]`. */
async function describe(
  page: Realm,
  url: string,
  candidate: CandidateName,
): Promise<Record<'inputs' | 'outputs', string[]>> {
  const { inputs, outputs } = await page.evaluate(
    async ({ url, candidate }) => {
      const bare = await window.engine(candidate);
      const { value: id, error } = await bare.open(url);
      if (error) throw new Error(error.message);
      return await bare.describe(id);
    },
    { url, candidate },
  );
  const [first, second] = [inputs, outputs].map((infos) =>
    infos.map(
      ({ name, dtype, dims }) =>
        `${name}: ${dtype} [${dims.map((size) => (typeof size === 'number' ? size : '?')).join()}]`,
    ),
  );
  return { inputs: first!, outputs: second! };
}

/** Feeds with their values, where a golden file has a seed. */
export function explicit(feeds: GoldenFeeds): GoldenFeeds {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, { dtype, dims, ...rest }]) => [
      name,
      { dtype, dims, data: valuesOf({ dtype, dims, ...rest }) },
    ]),
  );
}

export function expectOutputs(got: readonly Values[], expected: GoldenFeeds): void {
  expect(got.map(({ name }) => name).sort()).toEqual(Object.keys(expected).sort());
  for (const [name, { dtype, dims, ...rest }] of Object.entries(expected)) {
    const output = got.find((one) => one.name === name)!;
    expect({ name, dtype: output.dtype, dims: output.dims }).toEqual({ name, dtype, dims });
    for (const [index, value] of valuesOf({ dtype, dims, ...rest }).entries())
      expectClose(output.data[index]!, value, `${name}[${index}]`);
  }
}

function expectClose(got: string, expected: number | string | boolean, what: string): void {
  if (typeof expected === 'number' && Number.isFinite(expected))
    expect(Math.abs(Number(got) - expected), `${what}: ${got} for ${expected}`).toBeLessThanOrEqual(1e-4);
  else
    expect(
      Object.is(Number(got), Number(expected)) || got === String(expected),
      `${what}: ${got} for ${String(expected)}`,
    ).toBe(true);
}
