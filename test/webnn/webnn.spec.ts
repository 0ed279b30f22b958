import type { Page } from '@playwright/test';
import { NO_WEBNN, webnnPath } from '../../scripts/webnn-chromium.ts';
import type { Backend } from '../../src/contract/backends.ts';
import type { ClientOptions } from '../../src/page/options/client-options.ts';
import { engineContract, explicit } from '../browser/engine-contract.ts';
import { expect, test } from '../browser/fixtures.ts';
import { goldens } from '../browser/goldens.ts';

/**
 * The contract of an engine, and what is true of WebNN alone: `npm run webnn`, in a Chromium whose WebNN works without
 * a window.
 */
test.skip(webnnPath === undefined, NO_WEBNN);

engineContract(test, { of: 'ONNX Runtime on WebNN', on: () => 'onnx/webnn' });

interface Options extends Pick<ClientOptions, 'backends' | 'prefer' | 'measureBudget'> {
  readonly handler?: string;
  readonly freeDimensions?: Readonly<Record<string, number>>;
}

interface Answers {
  readonly backend: Backend;
  readonly rows: readonly unknown[];
  readonly warnings: readonly string[];
}

/** Opens a model, and hands it a batch: texts, or the files of URLs. */
function ask(page: Page, model: string, inputs: readonly string[], options: Options): Promise<Answers> {
  return page.evaluate(
    async ({ model, inputs, options: { freeDimensions, handler, ...options } }) => {
      const client = window.tabserve.connect({
        model,
        ...options,
        ...(handler !== undefined && { handler: handler as 'image_classifier' }),
        ...(freeDimensions && { config: { engine: { freeDimensions } } }),
      });
      const warnings: string[] = [];
      client.on('warn', ({ message }) => warnings.push(message));
      await client.initialize();
      const data = await Promise.all(
        inputs.map(async (input) => (input.startsWith('/') ? await (await fetch(input)).blob() : input)),
      );
      const rows = data.length > 0 ? await client.handle(data as never) : [];
      const backend = client.backend!;
      await client.dispose();
      return { backend, rows, warnings };
    },
    { model, inputs, options },
  );
}

const onWasm = { backends: ['wasm'] } as const;
const named = { backends: ['webnn', 'wasm'] } as const;

test('named first it serves, proven: a batch is answered row by row, as on WASM', async ({ open }) => {
  const page = await open();
  const digits = [0, 4, 9].map((digit) => `/models/digits/samples/digit-${digit}.png`);
  const webnn = await ask(page, '/models/digits/', digits, named);
  expect(webnn.backend).toMatchObject({
    engine: 'onnx',
    name: 'webnn',
    proof: 'golden',
    nodes: { total: 11, onWasm: 0 },
    skipped: [],
  });
  expectSame(webnn.rows, (await ask(page, '/models/digits/', digits, onWasm)).rows);

  const texts = ['Alle Menschen sind frei und gleich an Würde und Rechten geboren.', 'merci'];
  const options = { ...named, freeDimensions: { batch: 1, length: 64 } };
  const fixed = await ask(page, '/models/languages/', texts, options);
  // Its golden example is shorter.
  expect(fixed.backend).toMatchObject({ name: 'webnn', proof: 'reference' });
  expect(fixed.warnings).toEqual([expect.stringMatching(/golden\.safetensors proves nothing: its "input_ids"/)]);
  expectSame(fixed.rows, (await ask(page, '/models/languages/', texts, onWasm)).rows);
});

/** The same labels in the same order, and scores that differ by less than 10⁻⁴. */
function expectSame(rows: readonly unknown[], others: readonly unknown[]): void {
  const [some, same] = [rows, others] as (readonly (readonly { label: string; score: number }[])[])[];
  expect(some!.map((row) => row.map(({ label }) => label))).toEqual(same!.map((row) => row.map(({ label }) => label)));
  for (const [index, row] of some!.entries())
    for (const [at, { score }] of row.entries()) expect(Math.abs(score - same![index]![at]!.score)).toBeLessThan(1e-4);
}

test('models of the gallery and of the benchmark are right, and what WASM runs of them is told', async ({ open }) => {
  test.slow();
  const page = await open();
  const models = [
    { model: '/models/nanodet/', proof: 'golden', operators: [] },
    { model: '/models/selfie/', proof: 'golden', operators: ['Sum'] },
    {
      model: '/bench/model/',
      handler: 'image_classifier',
      freeDimensions: { batch: 1 },
      proof: 'reference',
      operators: [],
    },
    { model: '/test/models/proof/resnet18.onnx', handler: 'base_handler', proof: 'reference', operators: [] },
    { model: '/test/models/proof/conv1d.onnx', handler: 'base_handler', proof: 'reference', operators: [] },
    { model: '/test/models/branch.onnx', handler: 'base_handler', proof: 'reference', operators: ['If'] },
  ] as const;
  for (const { model, proof, operators, ...options } of models) {
    const { backend, warnings } = await ask(page, model, [], { ...options, backends: ['webnn'] });
    expect(backend, model).toMatchObject({ name: 'webnn', proof, nodes: { operators } });
    const told = operators.length > 0 ? [expect.stringContaining(`(${operators.join(', ')})`)] : [];
    expect(warnings, model).toEqual(told);
  }
});

test('free dimensions: WebNN is skipped, and the reason says what to write; a misspelt name is an error', async ({
  open,
}) => {
  const page = await open();
  const { backend } = await ask(page, '/test/models/tiny_classifier_batch.onnx', [], {
    handler: 'base_handler',
    ...named,
  });
  expect(backend).toMatchObject({
    name: 'wasm',
    skipped: [{ name: 'webnn', reason: expect.stringMatching(/needs fixed dimensions.*freeDimensions: \{ "N": 1 \}/) }],
  });
  const failure = await page.evaluate(() =>
    window.failure(
      window.tabserve.load('/test/models/tiny_classifier_batch.onnx', {
        handler: 'base_handler',
        backends: ['webnn', 'wasm'],
        config: { engine: { freeDimensions: { n: 1 } } },
      }),
    ),
  );
  expect(failure).toMatchObject({ code: 'model-config', message: expect.stringContaining('Did you mean "N"?') });
});

test("by default only prefer: 'fastest' tries it", async ({ open }) => {
  const page = await open();
  const first = await ask(page, '/models/digits/', [], {});
  expect(first.backend.skipped.find(({ name }) => name === 'webnn')!.reason).toContain("prefer: 'fastest'");
  const fastest = await ask(page, '/models/nanodet/', [], { prefer: 'fastest', measureBudget: 30_000 });
  const told = fastest.backend.skipped.find(({ name }) => name === 'webnn')?.reason ?? 'It serves.';
  expect(told).toMatch(/^It (serves\.|is slower: \d+(\.\d+)? ms a run, onnx\/wasm)/);
});

test('a context that is lost: the run fails with device-lost, and the client opens another worker', async ({
  open,
}) => {
  const page = await open();
  const codes = await page.evaluate(async (feeds) => {
    const bare = await window.engine('onnx/webnn');
    const { value: id } = await bare.open('/test/models/tiny_classifier.onnx');
    const before = await bare.run(id!, window.tensors(feeds));
    const during = await bare.loseDuring(id!, window.tensors(feeds));
    const after = await bare.run(id!, window.tensors(feeds));
    const disposed = await bare.dispose(id!);
    return [before, during, after, disposed].map(({ error }) => error?.code);
  }, explicit(goldens['tiny_classifier']![0]!.inputs));
  expect(codes).toEqual([undefined, 'device-lost', 'device-lost', undefined]);
});
