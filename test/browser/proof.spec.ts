import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ClientOptions } from '../../src/page/options/client-options.ts';
import type { TextGenerator, Verdict } from '../../src/index.ts';
import { createArchive } from '../../src/tools/cli/archive.ts';
import type { Page } from '@playwright/test';
import { GENERATION } from '../unit/worker/generation/models.ts';
import { expect, FULL_ONLY, test } from './fixtures.ts';
import type { Odd } from './workers/odd-engines.worker.ts';

/** A backend is taken when it has been proven right, and with `fastest` when it has been measured. */
const PROOF = '/test/models/proof';

type Visit = Pick<ClientOptions, 'backends' | 'prefer' | 'measureBudget' | 'verify'> & {
  readonly model: string;
  /** A worker with engines that are wrong or slow; without it the SDK's own engines. */
  readonly odd?: Readonly<Record<string, Odd>>;
};

/** Each visit is a client of its own; they share a store. What each took, and how many workers. */
function visit(visits: readonly Visit[]): Promise<
  {
    workers: number;
    code?: string;
    message?: string;
    backend?: NonNullable<ReturnType<typeof describeBackend>>;
    story: string;
  }[]
> {
  return (async () => {
    const { connect, clearVerdicts } = window.tabserve;
    await clearVerdicts();
    const answers = [];
    for (const { model, odd, ...options } of visits) {
      let workers = 0;
      const factory = () => (workers++, (odd ? window.workers.odd : window.workers.raw)());
      const client = connect(factory, {
        ...options,
        model,
        ...(odd && { config: { engine: { odd, threads: 1 } as never } }),
      });
      const failure = await client.initialize().then(
        () => undefined,
        (error) => ({ code: error.code as string, message: error.message as string }),
      );
      answers.push({ workers, ...failure, backend: client.backend && { ...client.backend }, story: client.diagnose() });
      await client.dispose();
    }
    return answers as never;
  })();
}
declare function describeBackend(): import('../../src/contract/backends.ts').Backend | undefined;

const reasons = (
  backend:
    | { readonly skipped: readonly { readonly engine: string; readonly name: string; readonly reason: string }[] }
    | undefined,
): Record<string, string> =>
  Object.fromEntries(backend!.skipped.map(({ engine, name, reason }) => [`${engine}/${name}`, reason]));

test.describe('proof', () => {
  test('a golden example: a backend that answers it wrongly is skipped, with the error', async ({ open, backend }) => {
    const page = await open();
    const [first] = await page.evaluate(visit, [
      { model: `${PROOF}/conv_relu_conv/`, backends: [backend, 'wasm'] },
    ] as Visit[]);
    expect(first!.backend).toMatchObject({
      engine: 'onnx',
      name: backend === 'webgl' ? 'wasm' : backend,
      proof: 'golden',
    });
    expect(first!.backend!.largestError).toBeLessThan(1e-5);
    if (backend !== 'webgl') return;
    expect(reasons(first!.backend)['onnx/webgl']).toMatch(
      /computes wrongly: on golden\.safetensors, output "y" is off by \d\.\d+ at \d+/,
    );
    expect(first!.workers).toBe(2);
  });

  test("a language model's golden example: a backend that chooses another token is skipped, and the reason names it @once @full", async ({
    open,
  }) => {
    const { prompt, input_ids: ids, tokens } = GENERATION['qwen3']!.prompts[0]!;
    const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
    writeFileSync(join(folder, 'story.txt'), prompt);
    const { path } = await createArchive({
      'model-name': 'writer',
      'serialized-file': fileURLToPath(new URL('../models/generation/qwen3', import.meta.url)),
      golden: join(folder, 'story.txt'),
      'export-path': folder,
    });
    const page = await open();
    await page.route('**/writer.mar', (route) => route.fulfill({ path }));
    const answers = await page.evaluate(
      async ({ prompt, from }) => {
        const { connect } = window.tabserve;
        const seen = [];
        for (const oddFrom of [from, 0]) {
          const client = connect<TextGenerator>(() => window.workers.oddWriter(), {
            model: '/writer.mar',
            backends: ['onnx/webgl', 'wasm'],
            config: { engine: { oddFrom } as never },
          });
          await client.initialize();
          const { text } = await client.predict(prompt, { params: { maxNewTokens: 4 } });
          const { name, proof, skipped } = client.backend!;
          seen.push({ name, proof, reasons: skipped.map(({ reason }) => reason), text });
          await client.dispose();
        }
        return seen;
      },
      { prompt, from: ids.length + 2 },
    );
    expect(answers[0]).toMatchObject({
      name: 'wasm',
      proof: 'golden',
      reasons: [
        expect.stringContaining(`on golden/story.safetensors, output "tokens" is 7 at 2, expected ${tokens[2]}`),
      ],
    });
    expect(answers[1]).toMatchObject({ name: 'webgl', proof: 'golden', reasons: [], text: answers[0]!.text });
  });

  test('by default a golden example lets ONNX Runtime WebGL have its turn, and every candidate runs it', async ({
    open,
    backend,
  }) => {
    test.skip(backend === 'webgpu', 'nothing of WebGPU in it');
    const page = await open();
    const [right, wrong] = await page.evaluate(visit, [
      { model: '/models/digits/', backends: ['webgl', 'wasm'] },
      { model: `${PROOF}/conv_relu_conv/` },
    ] as Visit[]);
    expect(right!.backend).toMatchObject({ name: 'webgl', proof: 'golden', skipped: [] });
    expect(wrong!.backend).toMatchObject({ name: 'wasm', proof: 'golden' });
  });

  /** Measured; `conv1d` is what is wrong in Silero VAD. */
  const wrongOn = {
    conv_relu_conv: 'webgl',
    'proof/resnet18': 'webgl',
    'proof/smooth': 'webgl',
    'proof/conv1d': 'webgpu',
  } as const;
  for (const [model, wrong] of Object.entries(wrongOn)) {
    test(`without one, verify: 'reference' compares with WASM, once: ${model}`, async ({ open, backend, full }) => {
      test.skip(model === 'proof/resnet18' && backend === 'webgpu', 'a minute on SwiftShader');
      test.skip(model === 'proof/conv1d' && backend === 'webgl', 'ONNX Runtime WebGL: no convolution along one axis');
      // What is right on each GPU is compared below.
      test.skip(backend !== 'wasm' && backend !== wrong && !full, FULL_ONLY);
      // They are refused below, too; one model shows that a verdict is kept.
      test.skip(!full && (model === 'proof/resnet18' || model === 'proof/smooth'), FULL_ONLY);
      const page = await open();
      const once: Visit = { model: `/test/models/${model}.onnx`, backends: [backend, 'wasm'], verify: 'reference' };
      const [first, second] = await page.evaluate(visit, [once, once]);
      expect(second!.backend!.name).toBe(backend === wrong ? 'wasm' : backend);
      expect(second!.backend!.proof).toBe(first!.backend!.proof);
      expect(reasons(second!.backend)).toEqual(reasons(first!.backend));
      if (backend === wrong) {
        const [, off] = /computes wrongly: compared with WASM, output "\w+" is off by (\S+) at/.exec(
          reasons(first!.backend)[`onnx/${wrong}`]!,
        )!;
        expect(Number(off)).toBeGreaterThan(0.01);
      }
      // The candidate's, that of the reference, and after a wrong answer WASM's own; the second visit compares nothing.
      expect([first!.workers, second!.workers]).toEqual(
        backend === 'wasm' ? [1, 1] : backend === wrong ? [3, 2] : [2, 1],
      );
    });
  }

  /** A bare model with the handler of images, as a visitor may bring one. */
  const image = {
    handler: 'image_classifier',
    config: { handler: { imageProcessing: [{ resize: [32, 32] }, 'toTensor'] } },
  } as const;

  test('ONNX Runtime WebGL is always compared, even if it is named: residual networks, and models that are wrong only on photographs, are refused', async ({
    open,
    backend,
  }) => {
    test.skip(backend !== 'webgl', 'ONNX Runtime WebGL alone');
    const page = await open();
    const skipped = await page.evaluate(async (image) => {
      const reasons = [];
      for (const model of ['resnet18', 'smooth', 'clamps']) {
        const url = `/test/models/proof/${model}.onnx`;
        const client = await window.tabserve.load(url, { ...image, backends: ['webgl', 'wasm'] });
        reasons.push(client.backend!.name, client.backend!.skipped[0]!.reason);
        await client.dispose();
      }
      return reasons;
    }, image);
    const off = /computes wrongly: compared with WASM, output "logits" is off by \d+\.\d+ at \d+/;
    expect(skipped).toEqual(['wasm', 'wasm', 'wasm'].flatMap((name) => [name, expect.stringMatching(off)]));
  });

  test('sound models pass: each is compared, and served', async ({ open, backend, full }) => {
    test.skip(backend === 'wasm', 'nothing to compare');
    test.skip(backend === 'webgpu' && !full, FULL_ONLY);
    const models = [
      {
        url: '/test/models/tiny_classifier.onnx',
        handler: 'image_classifier',
        config: { handler: { imageProcessing: [{ resize: [8, 8] }, 'toTensor'] } },
      },
      { url: '/test/models/affine_fixed.onnx', handler: 'base_handler' },
      // SwiftShader takes most of a minute to compile its shaders.
      ...(full
        ? [
            {
              url: '/models/digits/digits.onnx',
              handler: 'image_classifier',
              config: { handler: { imageProcessing: ['grayscale', { resize: [28, 28] }, 'toTensor'] } },
            } as const,
          ]
        : []),
    ] as const;
    const page = await open();
    const served = await page.evaluate(
      async ({ models, backend }) => {
        const served = [];
        for (const { url, ...options } of models) {
          const client = await window.tabserve.load(url, {
            ...options,
            backends: [backend, 'wasm'],
            verify: 'reference',
          });
          const { name, proof, skipped } = client.backend!;
          served.push([url, name, proof, ...skipped.map(({ reason }) => reason)]);
          await client.dispose();
        }
        return served;
      },
      { backend, models },
    );
    expect(served.map(([, ...rest]) => rest)).toEqual(models.map(() => [backend, 'reference']));
  });

  test('a verdict is void when the model has changed @wasm', async ({ open, page, backend }) => {
    test.skip(backend !== 'webgl', 'one of them will do');
    await open();
    const file = (name: string) => readFileSync(new URL(`../models/${name}.onnx`, import.meta.url));
    let body = file('conv_relu_conv');
    await page.route('**/changing.onnx', (route) => route.fulfill({ body, contentType: 'application/octet-stream' }));
    const load = () =>
      page.evaluate(async () => {
        const client = await window.tabserve.load('/changing.onnx', {
          handler: 'base_handler',
          backends: ['webgl', 'wasm'],
          verify: 'reference',
        });
        return client.backend!.name;
      });
    expect(await load()).toBe('wasm');
    body = file('affine_fixed');
    expect(await load()).toBe('webgl');
    body = file('conv_relu_conv');
    expect(await load()).toBe('wasm');
  });

  test('one element of a thousand @once @full', async ({ open }) => {
    const page = await open();
    const model = `${PROOF}/thousand.onnx`;
    const both = { model, backends: ['webgl', 'wasm'] } as const;
    const [named, compared, right] = await page.evaluate(visit, [
      { ...both, odd: { webgl: { wrong: 'element' } } },
      { ...both, odd: { webgl: { wrong: 'element' } }, verify: 'reference' },
      { ...both, odd: {}, verify: 'reference' },
    ] as Visit[]);
    for (const { backend } of [named!, compared!]) {
      expect(backend).toMatchObject({ name: 'wasm' });
      expect(reasons(backend)['onnx/webgl']).toMatch(/output "y" is off by 0\.100 at 517/);
    }
    expect(right!.backend).toMatchObject({ name: 'webgl', proof: 'reference', skipped: [] });
  });

  test('outputs that are not finite by design are accepted @wasm', async ({ open, backend }) => {
    const page = await open();
    const [first] = await page.evaluate(visit, [
      { model: `${PROOF}/inverse.onnx`, backends: [backend, 'wasm'] },
    ] as Visit[]);
    expect(first!.backend).toMatchObject({
      name: backend,
      proof: backend === 'wasm' ? 'none' : 'reference',
      skipped: [],
    });
  });

  test('NaN where WASM has none is compared unasked, and skipped @once', async ({ open }) => {
    const page = await open();
    const both = { model: `${PROOF}/thousand.onnx`, backends: ['webgl', 'wasm'] } as const;
    const answers = await page.evaluate(visit, [
      { ...both, odd: { webgl: { wrong: 'nan' } } },
      { ...both, odd: { webgl: { wrong: 'zeros' } } },
      { ...both, odd: { webgl: { wrong: 'zeros' } } },
    ] as Visit[]);
    for (const { backend } of answers) {
      expect(backend!.name).toBe('wasm');
      expect(reasons(backend)['onnx/webgl']).toMatch(/off by Infinity at 517 \(NaN for -?\d/);
    }
    expect(answers.map(({ workers }) => workers)).toEqual([3, 3, 2]);
  });

  test('a candidate that cannot be proven is not in the default list @once', async ({ open }) => {
    const page = await open();
    const [first] = await page.evaluate(visit, [{ model: '/test/models/affine.onnx', verify: 'reference' }] as Visit[]);
    expect(first!.backend!.name).toBe('wasm');
  });

  test('ONNX Runtime WebGL that is named, but cannot be compared, is skipped @once', async ({ open }) => {
    const page = await open();
    const model = '/test/models/dynamic_image.onnx';
    const [first, alone] = await page.evaluate(visit, [
      { model, backends: ['webgl', 'wasm'], odd: {} },
      { model, backends: ['onnx/webgl'], odd: {} },
    ] as Visit[]);
    expect(first!.backend).toMatchObject({ name: 'wasm' });
    expect(reasons(first!.backend)['onnx/webgl']).toMatch(
      /could not be proven correct.*dims.*not fixed.*golden example/,
    );
    expect(alone).toMatchObject({
      code: 'no-backend',
      message: expect.stringContaining('could not be proven correct'),
    });
  });

  /** Asks a client for answers to inputs of these sides. The worker's `webgl` is WASM that may be wrong above a size. */
  async function askSizes({ odd, sides }: { readonly odd: Odd; readonly sides: readonly number[] }) {
    const { connect, clearVerdicts } = window.tabserve;
    await clearVerdicts();
    const seen = [];
    const right = connect(() => window.workers.odd(), { model: '/test/models/proof/any_size/', backends: ['wasm'] });
    await right.initialize();
    for (let visit = 0; visit < 2; visit++) {
      let workers = 0;
      const recovered: (string | undefined)[] = [];
      const client = connect(() => (workers++, window.workers.odd()), {
        model: '/test/models/proof/any_size/',
        backends: ['webgl', 'wasm'],
        config: { engine: { odd: { webgl: odd }, threads: 1 } as never },
      });
      client.on('recover', ({ cause }) => recovered.push(cause.code));
      // A load's signal says nothing about later comparisons.
      const loading = new AbortController();
      await client.initialize({ signal: loading.signal });
      loading.abort();
      const errors = await Promise.all(
        sides.map(async (side) => {
          const x = {
            dtype: 'float32',
            dims: [1, 4, side, side],
            data: Float32Array.from({ length: 4 * side * side }, (_, index) => Math.sin(index)),
          } as const;
          const [own, expected] = (await Promise.all([client.predict({ x }), right.predict({ x })])) as {
            readonly y: { readonly data: Float32Array };
          }[];
          return expected!.y.data.reduce(
            (most, value, index) => Math.max(most, Math.abs(value - own!.y.data[index]!)),
            0,
          );
        }),
      );
      const { name, proof, skipped } = client.backend!;
      seen.push({
        name,
        proof,
        reasons: skipped.map(({ reason }) => reason),
        largest: Math.max(...errors),
        workers,
        recovered,
        compared: client.diagnose().split('Compared onnx/webgl with onnx/wasm').length - 1,
      });
      await client.dispose();
    }
    await right.dispose();
    return seen;
  }

  test('a backend that is wrong above a size: the first request of that size is compared, answered by WASM, and the next visit knows @once', async ({
    open,
  }) => {
    const page = await open();
    const seen = await page.evaluate(askSizes, { odd: { above: 1000 }, sides: [8, 12, 32, 33, 8] });
    const reason =
      /wrongly on larger inputs than those that it was proven on: compared with WASM, output "y" is off by/;
    expect(seen).toEqual([
      {
        name: 'wasm',
        proof: 'golden',
        reasons: [expect.stringMatching(reason)],
        largest: 0,
        // Its own, the reference's, and WASM's.
        workers: 3,
        recovered: ['backend-wrong'],
        compared: 1,
      },
      {
        name: 'wasm',
        proof: 'golden',
        reasons: [expect.stringMatching(/compared with WASM, at an earlier visit, output "y" is off by/)],
        largest: 0,
        workers: 2,
        recovered: [],
        compared: 0,
      },
    ]);
  });

  test('a backend that is right on larger inputs: one comparison, which the next visit remembers @once', async ({
    open,
  }) => {
    const page = await open();
    const seen = await page.evaluate(askSizes, { odd: {}, sides: [8, 32, 32, 60, 8] });
    const right = { name: 'webgl', proof: 'golden', reasons: [], largest: 0, recovered: [] };
    expect(seen).toEqual([
      { ...right, workers: 2, compared: 1 },
      { ...right, workers: 1, compared: 0 },
    ]);
  });

  test('no backend computes correctly: the error lists every reason @once', async ({ open }) => {
    const page = await open();
    const [first] = await page.evaluate(visit, [
      { model: `${PROOF}/two_formats/`, backends: ['onnx/webgl'], odd: { webgl: { wrong: 'element' } } },
    ] as Visit[]);
    expect(first).toMatchObject({
      code: 'no-backend',
      message: expect.stringMatching(/onnx\/webgl: It computes wrongly: on golden\.safetensors/),
    });
  });
});

test.describe('what is downloaded', () => {
  test.use({ reuseTab: 'emptied' });

  test('two formats in one archive: candidates range over both engines', async ({ open, page, backend }) => {
    test.skip(backend === 'webgpu', 'TensorFlow.js on WebGPU in software is slow');
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await open();
    const [tfjs, onnx, absent] = await page.evaluate(visit, [
      { model: '/test/models/proof/two_formats/', backends: [backend === 'webgl' ? 'webgl' : 'tfjs/wasm'] },
      { model: '/test/models/proof/two_formats/', backends: ['onnx/wasm'] },
      { model: '/test/models/proof/conv_relu_conv/', backends: ['tfjs/wasm'] },
    ] as Visit[]);
    expect(tfjs!.backend).toMatchObject({ engine: 'tfjs', name: backend, proof: 'golden' });
    expect(onnx!.backend).toMatchObject({ engine: 'onnx', name: 'wasm', proof: 'golden' });
    expect(absent).toMatchObject({
      code: 'no-backend',
      message: expect.stringContaining('The archive has no TensorFlow.js model'),
    });
    // Each visit downloads the format that it runs.
    for (const file of ['model.json', 'weights.bin', 'affine.onnx'])
      expect(paths.filter((path) => path.endsWith(`two_formats/${file}`))).toHaveLength(1);
  });
});

test.describe('measuring @once', () => {
  const fastest = {
    model: `${PROOF}/conv_relu_conv/`,
    backends: ['webgl', 'wasm'],
    prefer: 'fastest',
    measureBudget: 30_000,
  } as const;
  const slow = { odd: { webgl: { run: 60 } } } as const;

  test('the candidate with the lowest median is chosen and cached; after clearVerdicts it is measured again', async ({
    open,
  }) => {
    const page = await open();
    const [first, second] = await page.evaluate(visit, [
      { ...fastest, ...slow },
      { ...fastest, ...slow },
    ] as Visit[]);
    expect(first!.backend).toMatchObject({
      name: 'wasm',
      median: expect.any(Number),
      skipped: [
        {
          name: 'webgl',
          reason: expect.stringMatching(/slower: [6-9]\d ms a run, onnx\/wasm takes \d+(\.\d+)? ms/),
        },
      ],
    });
    expect(first!.workers).toBe(2);
    expect(second).toMatchObject({
      workers: 1,
      backend: {
        name: 'wasm',
        median: first!.backend!.median,
        skipped: [{ name: 'webgl', reason: expect.stringContaining('at an earlier visit a run took') }],
      },
    });
    const [third] = await page.evaluate(visit, [{ ...fastest, ...slow }] as Visit[]);
    expect(third!.workers).toBe(2);
  });

  test('the budget: what comes after it is not measured, and after two visits not waited for @full', async ({
    open,
  }) => {
    const page = await open();
    const late = { ...fastest, odd: { wasm: { open: 60_000 } }, measureBudget: 300 };
    const started = Date.now();
    const answers = await page.evaluate(visit, [
      { ...fastest, measureBudget: 0, odd: {} },
      late,
      late,
      late,
    ] as Visit[]);
    expect(Date.now() - started).toBeLessThan(30_000);
    expect(answers[0]).toMatchObject({
      workers: 1,
      backend: {
        name: 'webgl',
        skipped: [{ name: 'wasm', reason: 'It was not measured: measureBudget, 0 ms, was used up.' }],
      },
    });
    for (const { backend } of answers.slice(1)) expect(backend!.name).toBe('webgl');
    expect(answers.slice(1).map(({ workers }) => workers)).toEqual([2, 2, 1]);
    expect(reasons(answers[3]!.backend)['onnx/wasm']).toBe(
      'It could not be measured at 2 visits, and is no longer tried: It was not measured: measureBudget, 300 ms, was used up.',
    );
  });

  test('only proven candidates are measured @full', async ({ open }) => {
    const page = await open();
    const wrong = {
      ...fastest,
      model: `${PROOF}/thousand.onnx`,
      odd: { webgl: { wrong: 'element' }, wasm: { run: 40 } },
      verify: 'reference',
    };
    const answers = await page.evaluate(visit, [wrong, wrong] as Visit[]);
    for (const { backend } of answers)
      expect(backend).toMatchObject({
        name: 'wasm',
        skipped: [{ name: 'webgl', reason: expect.stringContaining('computes wrongly') }],
      });
    expect(answers.map(({ workers }) => workers)).toEqual([3, 1]);
  });

  test('numbers of threads are measured on an isolated page; the next visit begins with the fastest', async ({
    open,
  }) => {
    const page = await open();
    const cores = await page.evaluate(() => navigator.hardwareConcurrency);
    const usual = Math.min(4, Math.ceil(cores / 2));
    const counts = [...new Set([usual, ...[1, 2, 4].filter((count) => count <= cores)])].sort();
    const once: Visit = { model: '/models/digits/', backends: ['onnx/wasm'], prefer: 'fastest', measureBudget: 30_000 };
    const [first, second] = await page.evaluate(visit, [once, once]);
    const { threads, skipped } = first!.backend!;
    expect([threads, ...skipped.map((one) => one.threads)].sort()).toEqual(counts);
    for (const { reason } of skipped) expect(reason).toContain(`onnx/wasm with ${threads} thread`);
    expect(first!.workers).toBe(counts.length);
    expect(second).toMatchObject({ workers: 1, backend: { threads, median: first!.backend!.median } });
    expect(second!.story).toContain(`onnx/wasm with ${threads} thread`);
  });

  test('a custom store, and verdicts of another build @full', async ({ open }) => {
    const page = await open();
    const answer = await page.evaluate(
      async ({ model, backends, prefer, measureBudget }) => {
        const kept = new Map<string, Verdict>();
        const verdicts = {
          get: (key: string) => Promise.resolve(kept.get(key)),
          set: (key: string, verdict: Verdict) => Promise.resolve(void kept.set(key, verdict)),
          clear: () => Promise.resolve(kept.clear()),
        };
        const load = async () => {
          let workers = 0;
          const client = window.tabserve.connect(() => (workers++, window.workers.odd()), {
            model,
            backends,
            prefer,
            measureBudget,
            verdicts,
            config: { engine: { odd: { webgl: { run: 40 } }, threads: 1 } as never },
          });
          await client.initialize();
          const { name, median } = client.backend!;
          await client.dispose();
          return { workers, name, median };
        };
        const first = await load();
        const keys = [...kept.keys()].map((key) => key.replace(location.origin, ''));
        const [verdict] = [...kept.values()];
        const second = await load();
        for (const [key, value] of kept) kept.set(key, { ...value, build: value.build!.replace(/ .*/, ' 0.0.0') });
        const otherEngine = await load();
        return { first, keys, verdict, second, otherEngine };
      },
      { ...fastest, backends: [...fastest.backends] },
    );
    expect(answer.keys).toEqual([`onnx/webgl ${fastest.model}`, `onnx/wasm ${fastest.model}`]);
    expect(answer.verdict).toMatchObject({
      build: expect.stringMatching(/^[\da-f]{64} 1\.\d+\.\d+/),
      environment: expect.stringContaining(await page.evaluate(() => navigator.userAgent)),
      median: expect.any(Number),
    });
    const counts = Object.fromEntries(
      Object.entries(answer).flatMap(([name, one]) =>
        typeof one === 'object' && 'workers' in one ? [[name, one.workers]] : [],
      ),
    );
    expect(counts).toEqual({ first: 2, second: 1, otherEngine: 2 });
    for (const { name } of [answer.first, answer.second, answer.otherEngine]) expect(name).toBe('wasm');
  });
});

/** What holds the database of verdicts, as another tab would: nobody who opens it is answered. */
async function blockVerdicts(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const held = await new Promise<IDBDatabase>((resolve) => {
      const opening = indexedDB.open('tabserve', 1);
      opening.onupgradeneeded = () => opening.result.createObjectStore('verdicts');
      opening.onsuccess = () => resolve(opening.result);
    });
    // It does not close when it is asked to, so the deletion waits, and whoever opens the database waits for the
    // deletion.
    held.onversionchange = () => {};
    indexedDB.deleteDatabase('tabserve');
    Object.assign(window, { held });
  });
}

test('a blocked IndexedDB is treated as empty, and blocks neither load nor abort @once @full', async ({ open }) => {
  const page = await open();
  await blockVerdicts(page);
  const answer = await page.evaluate(async () => {
    const options = { backends: ['wasm', 'webgl'], prefer: 'fastest', handler: 'base_handler' } as const;
    const model = '/test/models/proof/conv_relu_conv/';
    const client = await window.tabserve.load(model, options);
    const { name } = client.backend!;
    await client.dispose();
    const stop = new AbortController();
    const loading = window.tabserve.connect(() => window.workers.odd(), { ...options, model });
    const failed = window.failure(loading.initialize({ signal: stop.signal }));
    // While it waits for the database: the archive is there by then.
    while (loading.probe === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    stop.abort();
    return { name, failed: await failed };
  });
  expect(answer.name).toMatch(/wasm|webgl/);
  expect(answer.failed).toMatchObject({ code: 'aborted' });
  await expect.poll(() => page.workers().length).toBe(0);
});

test('a store that never answers is treated as empty, and dispose ends the wait @once', async ({ open }) => {
  const page = await open();
  const answer = await page.evaluate(async () => {
    const never = () => new Promise<never>(() => {});
    const options = {
      model: '/test/models/proof/thousand.onnx',
      backends: ['webgl', 'wasm'],
      verify: 'reference',
      verdicts: { get: never, set: never, clear: never },
    } as const;
    const client = window.tabserve.connect(() => window.workers.odd(), options);
    await client.initialize();
    const { name } = client.backend!;
    await client.dispose();
    const disposed = window.tabserve.connect(() => window.workers.odd(), options);
    const failed = window.failure(disposed.initialize());
    while (disposed.probe === undefined) await new Promise((resolve) => setTimeout(resolve, 1));
    await disposed.dispose();
    return { name, failed: await failed };
  });
  expect(answer.name).toBe('webgl');
  expect(answer.failed).toMatchObject({ code: 'disposed' });
  await expect.poll(() => page.workers().length).toBe(0);
});

test('a stored verdict with wrong types is ignored @once @full', async ({ open }) => {
  const page = await open();
  const names = await page.evaluate(async () => {
    const kept = new Map<string, unknown>();
    const verdicts = {
      get: async (key: string) => kept.get(key) as never,
      set: async (key: string, verdict: object) => void kept.set(key, { ...verdict, median: 'fast' }),
      clear: async () => {},
    };
    const names = [];
    for (let visit = 0; visit < 2; visit++) {
      const client = await window.tabserve.load('/test/models/proof/conv_relu_conv/', {
        handler: 'base_handler',
        backends: ['wasm'],
        prefer: 'fastest',
        verdicts,
      });
      names.push(client.backend!.name);
      await client.dispose();
    }
    return names;
  });
  expect(names).toEqual(['wasm', 'wasm']);
});

test('diagnose has the facts for a bug report: versions, files, what the browser has, the backend @once', async ({
  open,
  backend,
}) => {
  const page = await open();
  const [first] = (await page.evaluate(visit, [
    { model: `${PROOF}/conv_relu_conv/`, backends: [...new Set([backend, 'webgl', 'wasm'])] },
  ] as Visit[])) as { story: string }[];
  for (const part of [
    /^tabserve \d+\.\d+\.\d+, Mozilla/,
    /^model: http:.*\/test\/models\/proof\/conv_relu_conv\/ \(conv_relu_conv 1\.0\)$/m,
    /^ {2}conv_relu_conv\.onnx: 1701 bytes$/m,
    /^webgpu: \{"available":(true|false)/m,
    /^webgl: \{"available":true,.*renderer/m,
    /^wasm: \{"available":true,"simd":true/m,
    /^cores: \d+$/m,
    /^backend: \{"engine":"onnx"/m,
    // Then the log, each line with its time.
    /^ +\d+ ms {2}\S/m,
  ])
    expect(first!.story).toMatch(part);
});

test('an aborted load leaves no worker, whatever it was about @once', async ({ open, full }) => {
  const page = await open();
  const cases = [
    [{ wasm: { open: 30_000 } }, { verify: 'reference' }, 2],
    [{ webgl: { run: 30_000 } }, { prefer: 'fastest' }, 1],
    [{ webgl: { open: 30_000 } }, { verify: 'reference' }, 1],
    [{ wasm: { open: 30_000 } }, { prefer: 'fastest', measureBudget: 60_000 }, 2],
  ] as const;
  for (const [odd, options, count] of cases.slice(0, full ? 4 : 2)) {
    const failure = await page.evaluate(
      async ({ model, odd, options, count }) => {
        const stop = new AbortController();
        let workers = 0;
        const factory = () => {
          // Once the last of them has had time to begin what never ends.
          if (++workers === count) setTimeout(() => stop.abort(), 1500);
          return window.workers.odd();
        };
        await window.tabserve.clearVerdicts();
        const client = window.tabserve.connect(factory, {
          model,
          backends: ['webgl', 'wasm'],
          ...options,
          config: { engine: { odd } as never },
        });
        return { ...(await window.failure(client.initialize({ signal: stop.signal }))), workers };
      },
      { model: `${PROOF}/thousand.onnx`, odd, options, count },
    );
    expect(failure).toMatchObject({ code: 'aborted', workers: count });
    await expect.poll(() => page.workers().length).toBe(0);
  }
});
