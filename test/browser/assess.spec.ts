import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from './fixtures.ts';

const MODEL = 'test/models/generation/llama_fused/';
const FOLDER = fileURLToPath(new URL(`../../${MODEL}onnx/`, import.meta.url));
const sizeOf = (name: string): number => statSync(FOLDER + name).size;

test('what it says of a repository is what load does then, and no weights are downloaded for it @once', async ({
  page,
}) => {
  const asked: string[] = [];
  page.context().on('request', (request) => {
    const [, file] = /\/onnx\/([^/?]+)$/.exec(new URL(request.url()).pathname) ?? [];
    if (file !== undefined) asked.push(`${request.method()} ${file}`);
  });
  await page.goto('/test/browser/pages/tabserve.html');
  await page.waitForFunction(() => 'tabserve' in window);
  const assessed = await page.evaluate(
    async (model) => await window.tabserve.assess(model, { backends: ['onnx/webnn', 'onnx/wasm'] }),
    `/${MODEL}`,
  );
  expect(asked.length).toBeGreaterThan(0);
  expect(asked.filter((one) => !one.startsWith('HEAD '))).toEqual([]);

  expect(assessed.handler).toEqual({
    name: 'text_generator',
    reason: "It follows from the repository's files: config.json names the architecture LlamaForCausalLM.",
  });
  const names = readdirSync(FOLDER);
  expect(assessed.files.map(({ path }) => path.replace('onnx/', '')).toSorted()).toEqual(
    names.filter((name) => name.endsWith('.onnx')).toSorted(),
  );
  for (const { path, bytes } of assessed.files) {
    const own = names.filter((name) => name.startsWith(path.replace('onnx/', '')));
    expect(bytes, path).toBe(own.reduce((sum, name) => sum + sizeOf(name), 0));
  }
  expect(assessed.device).toMatchObject({ cores: expect.any(Number), freeStorage: expect.any(Number) });

  const backend = await page.evaluate(async (model) => {
    const client = await window.tabserve.load(model, { backends: ['onnx/webnn', 'onnx/wasm'] });
    const { backend } = client;
    await client.dispose();
    return backend!;
  }, `/${MODEL}`);
  const [best] = assessed.backends;
  expect({ ...best, precision: best!.files[0]!.precision }).toMatchObject({
    engine: backend.engine,
    name: backend.name,
    precision: backend.precision,
  });
  expect(assessed.device.threads).toBe(backend.threads);
  expect(assessed.skipped).toEqual(backend.skipped);
});

test('without its server, it says what an earlier visit has stored, as load opens it then @once', async ({ page }) => {
  await page.goto('/test/browser/pages/tabserve.html');
  await page.waitForFunction(() => 'tabserve' in window);
  const assess = (): Promise<unknown> =>
    page.evaluate(async (model) => {
      const { backends, files } = await window.tabserve.assess(model, { backends: ['onnx/wasm'] });
      return { files, bytes: backends[0]!.bytes, memory: backends[0]!.memory };
    }, `/${MODEL}`);
  const load = (): Promise<unknown> =>
    page.evaluate(async (model) => {
      const client = await window.tabserve.load(model, { backends: ['onnx/wasm'] });
      const { precision } = client.backend!;
      await client.describe();
      return precision;
    }, `/${MODEL}`);
  const { bytes, memory, files } = (await assess()) as { bytes: number; memory: number; files: { path: string }[] };
  const precision = await load();
  const isOfModel = (url: URL): boolean => url.pathname.startsWith(`/${MODEL}`);
  await page.context().route(isOfModel, (route) => route.abort());
  expect(files.length).toBeGreaterThan(1);
  // The client answers before its files are stored.
  await expect.poll(assess).toEqual({ bytes, memory, files: [expect.objectContaining({ precision, bytes })] });
  expect(await load()).toBe(precision);
});

test('an archive that is not there is the error of load; a model without a handler is an answer @once', async ({
  page,
}) => {
  await page.goto('/test/browser/pages/tabserve.html');
  await page.waitForFunction(() => 'tabserve' in window);
  const [missing, wrong, bare] = await page.evaluate(async () => {
    const { assess } = window.tabserve;
    return [
      await window.failure(assess('/test/models/nothing-here/')),
      await window.failure(assess('/test/models/affine.onnx', { nothing: 1 } as object)),
      await assess('/test/models/affine.onnx', { backends: ['wasm'] }),
    ] as const;
  });
  expect(missing.code).toBe('model-not-found');
  expect(wrong.code).toBe('model-config');
  expect(bare.handler.name).toBeUndefined();
  expect(bare.handler.reason).toContain("set the option handler to 'base_handler'");
  expect(bare.files).toEqual([
    {
      node: '',
      path: 'affine.onnx',
      bytes: statSync(fileURLToPath(new URL('../models/affine.onnx', import.meta.url))).size,
    },
  ]);
});

test('a file of Ultralytics’ names its handler: assess says it, and load opens it with no option @once', async ({
  page,
}) => {
  await page.goto('/test/browser/pages/tabserve.html');
  await page.waitForFunction(() => 'tabserve' in window);
  const answers = await page.evaluate(async () => {
    const { assess, load } = window.tabserve;
    const backends = ['wasm'] as const;
    const opened = async (url: string): Promise<unknown> => {
      const { handler } = await assess(url, { backends });
      const client = await load(url, { backends });
      const described = await client.describe();
      await client.predict(new ImageData(64, 64));
      await client.dispose();
      return [handler, described.handler];
    };
    return [await opened('/test/models/yolo-pose/people.onnx'), await opened('/test/models/contradictions/dense.onnx')];
  });
  const reason = 'By its metadata, Ultralytics exported the file.';
  expect(answers).toEqual(['pose_landmarker', 'object_detector'].map((name) => [{ name, reason }, name]));
});
