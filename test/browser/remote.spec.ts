import type { ClientOptions } from '../../src/page/options/client-options.ts';
import { startServer, type RunningServer } from '../remote/start.ts';
import { expect, test } from './fixtures.ts';

/** A model on a server: a process of Node that runs the digits with onnxruntime-node, on an origin of its own. */
let server: RunningServer;
test.beforeAll(async () => {
  server = await startServer();
});
test.afterAll(async () => await server.kill());

const DIGITS = '/models/digits/';
const SAMPLES = ['drawn-3', 'drawn-7', 'digit-8'].map((name) => `/models/digits/samples/${name}.png`);

test('the digits on a server: the answers are those of the tab’s WASM, whichever way the tensors travel @once', async ({
  open,
}) => {
  const page = await open();
  const inputs: string[] = [];
  page
    .context()
    .on('request', (request) => request.method() === 'POST' && inputs.push(`${request.headers()['content-type']}`));
  const answers = await page.evaluate(
    async ({ url, model, modelless, samples }) => {
      const images = await Promise.all(samples.map(async (sample) => await (await fetch(sample)).blob()));
      const ask = async (model: string, options: Pick<ClientOptions, 'backends' | 'remote' | 'config'>) => {
        const client = await window.tabserve.load(model, { handler: 'image_classifier', ...options });
        const found = (await client.handle(images)).map((row) =>
          (row as { label: string; score: number }[]).map(({ label, score }) => [label, score] as const),
        );
        const { backend } = client;
        const description = await client.describe();
        await client.dispose();
        return { backend: backend!, inputs: description.inputs, scores: found.map((row) => Object.fromEntries(row)) };
      };
      const config = { handler: { topK: 10 } };
      return {
        here: await ask(model, { backends: ['wasm'], config }),
        bytes: await ask(model, { backends: ['remote'], remote: { url }, config }),
        json: await ask(model, { backends: ['remote'], remote: { url, binary: false }, config }),
        modelless: await ask(modelless, { backends: ['wasm', 'remote'], remote: { url }, config }),
      };
    },
    { url: server.url, model: DIGITS, modelless: '/test/models/remote-digits/', samples: SAMPLES },
  );
  const { here, ...remote } = answers;
  expect(Object.keys(here.scores[0]!)).toHaveLength(10);
  for (const [name, { backend, scores, inputs }] of Object.entries(remote)) {
    expect(backend, name).toMatchObject({ engine: 'remote', name: 'remote', proof: 'golden' });
    expect(inputs).toEqual(here.inputs);
    for (const [index, row] of scores.entries())
      for (const [label, score] of Object.entries(row))
        expect(Math.abs(score - (here.scores[index]![label] as number)), `${name}: ${label}`).toBeLessThanOrEqual(1e-5);
  }
  expect(remote.modelless.backend.skipped).toEqual([
    { engine: 'onnx', name: 'wasm', reason: 'The archive has no ONNX model.' },
    { engine: 'tfjs', name: 'wasm', reason: 'The archive has no TensorFlow.js model.' },
  ]);
  expect(new Set(inputs)).toEqual(new Set(['application/octet-stream', 'application/json']));
});

test('a server that answers wrongly, with a page, or with a redirect to another origin is skipped; the reason says why @once @full', async ({
  open,
}) => {
  const page = await open();
  const reasons = await page.evaluate(
    async ({ url, model, faults }) => {
      const tried = faults.map(async (fault) => {
        const remote = { url: `${url}${fault}/` };
        const client = await window.tabserve.load(model, {
          handler: 'image_classifier',
          backends: ['remote', 'wasm'],
          remote,
        });
        const { name, skipped } = client.backend!;
        await client.dispose();
        return [fault, name, skipped[0]?.reason] as const;
      });
      return await Promise.all(tried);
    },
    { url: server.url, model: DIGITS, faults: ['wrong', 'nan', 'html', 'redirect', 'other-dtype', 'private'] },
  );
  const why = Object.fromEntries(reasons.map(([fault, name, reason]) => [fault, `${name}: ${reason}`]));
  expect(why).toEqual({
    wrong: expect.stringMatching(/^wasm: It computes wrongly: on golden.safetensors, output "logits" is off by 0.5/),
    nan: expect.stringMatching(/^wasm: It computes wrongly: .* is off by Infinity/),
    html: expect.stringMatching(/^wasm: .*infer answered 200: HTML/),
    redirect: expect.stringMatching(/^wasm: .*infer is redirected\. A redirect of a model's server is not followed/),
    'other-dtype': expect.stringMatching(/^wasm: .*has "logits" as float64 \[1, 10\], expected float32 \[1, 10\]/),
    private: expect.stringMatching(/^wasm: .*answered 401: no token/),
  });
});

test('a server that ends while it serves: the request is answered by the next backend @once @full', async ({
  open,
}) => {
  test.slow();
  const own = await startServer();
  const page = await open();
  await page.evaluate(
    async ({ url, model, sample }) => {
      const image = await (await fetch(sample)).blob();
      const client = await window.tabserve.load(model, {
        handler: 'image_classifier',
        backends: ['remote', 'wasm'],
        remote: { url, timeout: 4000 },
      });
      const causes: string[] = [];
      client.on('recover', ({ cause, replayed, backend }) =>
        causes.push(`${cause.code} ${cause.retriable} ${replayed} ${backend.name}`),
      );
      Object.assign(window, {
        predict: async () => {
          const [best] = await client.predict(image);
          return [best!.label, client.backend!.name, ...causes];
        },
      });
    },
    { url: own.url, model: DIGITS, sample: SAMPLES[0]! },
  );
  const predict = (): Promise<string[]> =>
    page.evaluate(() => (window as unknown as { predict: () => Promise<string[]> }).predict());
  expect(await predict()).toEqual(['three', 'remote']);
  await own.kill();
  expect(await predict()).toEqual(['three', 'wasm', 'device-lost true 1 wasm']);
});

test('no server is asked unless the app names it, and its options are checked @once @full', async ({ open }) => {
  const page = await open();
  const failures = await page.evaluate(
    async ({ url, model, modelless }) => {
      const load = async (model: string, options: unknown) =>
        await window.failure(
          window.tabserve.load(model, { handler: 'image_classifier', ...(options as ClientOptions) }),
        );
      const backends = ['remote'];
      return [
        await load(model, { remote: { url } }),
        await load(model, { backends }),
        await load(modelless, {}),
        await load(model, { backends, remote: { url: `${url}?key=secret` } }),
        await load(model, { backends, remote: { url: 'ftp://models.example.org/' } }),
        await load(model, { backends, remote: { url, port: 1 } }),
        await load(model, { backends, remote: { url, timeout: 0 } }),
        await load(model, { backends, remote: { url, protocol: 'grpc' } }),
        await load(model, { backends, remote: { url, headers: { Cookie: 'a' } } }),
        await load(model, { backends, remote: { url, protocol: 'torchserve' } }),
        await load(model, { backends, remote: { url }, config: { engine: { remote: { inputs: [{ name: 'x' }] } } } }),
      ].map(({ code, message }) => `${code}: ${message}`);
    },
    { url: server.url, model: DIGITS, modelless: '/test/models/remote-digits/' },
  );
  expect(failures).toEqual([
    expect.stringMatching(/^model-config: remote names a server, and backends does not: add 'remote' to it/),
    expect.stringMatching(/^no-backend: .*No server is named: set the option remote/),
    expect.stringMatching(/^no-backend: .*No server is named: set the option remote/),
    expect.stringMatching(
      /^model-config: remote\.url: expected an http or https URL without user, query and fragment, got one of http:\/\/127/,
    ),
    expect.stringMatching(/^model-config: remote\.url: .*got one of ftp:/),
    expect.stringMatching(/^model-config: remote\.port is not a known key/),
    expect.stringMatching(/^model-config: remote\.timeout must be a number > 0/),
    expect.stringMatching(
      /^model-config: remote\.protocol: expected one of "open-inference", "torchserve", got "grpc"/,
    ),
    expect.stringMatching(/^model-config: remote\.headers\.Cookie: a page may not set this header/),
    expect.stringMatching(/^model-config: engine\.remote\.inputs is missing/),
    expect.stringMatching(/^model-config: engine\.remote\.inputs\[0\]\.dtype is missing/),
  ]);
});
