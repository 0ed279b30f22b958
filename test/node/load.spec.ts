// The built package's `tabserve/node`: worker threads run JavaScript, so they cannot run the sources.
import { execFile, spawn } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import type { Worker } from 'node:worker_threads';
import { expect, test } from '@playwright/test';
import { GENERATION } from '../unit/worker/generation/models.ts';

const root = new URL('../../', import.meta.url);
const dist = async <Module>(path: string): Promise<Module> =>
  (await import(new URL(`dist/${path}`, root).href)) as Module;
const { connect, load, ThreadWorker } = await dist<typeof import('../../src/node.ts')>('node.js');

const MODEL = new URL('public/models/digits/', root);
const sample = (name: string): Blob => new Blob([readFileSync(new URL(`samples/${name}`, MODEL))]);
const { cases } = JSON.parse(readFileSync(new URL('test/models/digits.golden.json', root), 'utf8')) as {
  readonly cases: readonly { readonly sample?: string; readonly probabilities: readonly number[] }[];
};
const LABELS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

/** The threads that were started since, and how many of them still run. */
const threads: Worker[] = [];
let running = 0;
process.on('worker', (thread) => {
  threads.push(thread);
  running++;
  thread.once('exit', () => running--);
});
test.beforeEach(() => void threads.splice(0));
test.afterEach(async () => await expect.poll(() => running, 'no thread is left').toBe(0));

for (const backend of ['onnx/cpu', 'onnx/wasm', 'tfjs/cpu'] as const)
  test(`every sample of digits, on ${backend}: what ONNX Runtime in Python answers, and the tab's WASM${backend === 'onnx/cpu' ? '' : ' @full'}`, async () => {
    const digits = await load<'image_classifier'>(MODEL, { backends: [backend], config: { handler: { topK: 10 } } });
    expect(digits.backend).toMatchObject({ engine: backend.slice(0, 4), name: backend.slice(5), proof: 'golden' });
    for (const { sample: name, probabilities } of cases) {
      if (name === undefined) continue;
      const answer = await digits.predict(sample(name));
      for (const { label, score } of answer)
        expect(Math.abs(score - probabilities[LABELS.indexOf(label)]!), `${name}: ${label}`).toBeLessThan(1e-5);
    }
    expect(digits.metrics.prometheus()).toContain('ts_inference_requests_total');
    await digits.dispose();
  });

test("a language model's golden example is what transformers answers, on each engine @full", async () => {
  const { createArchive } = await dist<typeof import('../../src/tools/cli/archive.ts')>('tools/cli/archive.js');
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
  const { prompt, text, tokens } = GENERATION['llama']!.prompts[0]!;
  writeFileSync(join(folder, 'story.txt'), prompt);
  const { path } = await createArchive({
    'model-name': 'writer',
    'serialized-file': fileURLToPath(new URL('test/models/generation/llama', root)),
    golden: join(folder, 'story.txt'),
    'export-path': folder,
  });
  for (const backend of ['onnx/cpu', 'onnx/wasm'] as const) {
    await using writer = await load<'text_generator'>(pathToFileURL(path), { backends: [backend] });
    expect(writer.backend).toMatchObject({ proof: 'golden', skipped: [] });
    expect((await writer.predict(prompt, { params: { maxNewTokens: tokens.length } })).text).toBe(text);
  }
});

test('the options of a page, with cache and assets: nothing is kept, and nothing is warned of', async () => {
  const warnings: string[] = [];
  const page = { model: MODEL, handler: 'image_classifier', cache: 'opfs', assets: '/tabserve/' } as const;
  const digits = connect<'image_classifier'>(page);
  digits.on('warn', ({ message }) => warnings.push(message));
  await digits.initialize();
  expect((await digits.predict(sample('drawn-7.png')))[0]!.label).toBe('seven');
  expect(warnings).toEqual([]);
  await digits.dispose();
});

test('many requests at once with one signal, and many sequences: Node warns of no leak', async () => {
  const warnings: string[] = [];
  const listen = ({ name, message }: Error): void => void warnings.push(`${name}: ${message}`);
  process.on('warning', listen);
  await using digits = await load<'image_classifier'>(MODEL);
  const pixels = sample('drawn-7.png');
  const image = { dtype: 'float32', dims: [1, 1, 28, 28], data: new Float32Array(28 * 28) } as const;
  const input = (await digits.describe()).inputs![0]!.name;
  const calls = [
    (options: { signal: AbortSignal }) => digits.predict(pixels, options),
    (options: { signal: AbortSignal }) => digits.handle([pixels], options),
    (options: { signal: AbortSignal }) => digits.infer({ [input]: image }, options),
    // Before it is listened to, an explanation is refused by a model without one; nothing else is.
    (options: { signal: AbortSignal }) => digits.explain(pixels, options).catch(() => {}),
  ];
  for (const call of calls) {
    const { signal } = new AbortController();
    await Promise.all(Array.from({ length: 20 }, () => call({ signal })));
  }
  const sequences = Array.from({ length: 20 }, () => digits.openSequence());
  await Promise.all(sequences.map((sequence) => sequence.predict(pixels)));
  process.off('warning', listen);
  expect(warnings).toEqual([]);
});

test('a file that is missing: the error speaks of no status of a server', async () => {
  const missing = fileURLToPath(new URL('missing.mar', MODEL));
  await expect(load(missing)).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/missing\.mar is missing: there is no such file/),
  });
});

test('a thread that is lost under load: every request is answered, by another thread', async () => {
  // On WASM: whoever ends a thread in the middle of onnxruntime-node, past its ThreadWorker, ends the process.
  await using digits = await load(MODEL, { backends: ['wasm'], batchSize: 4 });
  const recovered: unknown[] = [];
  digits.on('recover', (recovery) => recovered.push(recovery));
  const answers = Array.from({ length: 60 }, () => digits.predict(sample('digit-4.png')));
  await answers[0];
  await threads[0]!.terminate();
  const labels = (await Promise.all(answers)).map((answer) => (answer as { label: string }[])[0]!.label);
  expect(labels).toEqual(Array(60).fill('four'));
  expect([recovered.length, threads.length]).toEqual([1, 2]);
});

test('clients that are disposed of in the middle of a run, and a process that exits in one, end quietly @full', async () => {
  test.setTimeout(120_000);
  const script = fileURLToPath(new URL('test/node/end-under-load.mjs', root));
  const child = spawn(process.execPath, [script], { stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (data: Buffer) => (errors += data.toString()));
  const ended = await new Promise((resolve) => child.on('exit', (...how) => resolve(how)));
  expect([ended, errors]).toEqual([[0, null], '']);
});

test("a handler of the app's own: batches, cancellation, a thread that ends itself", async () => {
  const script = new URL('test/node/workers/doubling.worker.mjs', root);
  await using doubling = connect(() => new ThreadWorker(script), { model: new URL('test/models/affine.onnx', root) });
  await doubling.initialize();
  expect(await doubling.handle([1, 2, 3] as never)).toEqual([2, 4, 6]);
  await expect(doubling.predict(1 as never, { signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: 'aborted',
  });
  await expect(doubling.predict('exit' as never)).rejects.toMatchObject({
    code: 'worker-lost',
    message: expect.stringContaining('exit code 3'),
  });
  expect(await doubling.predict(4 as never)).toBe(8);
  const silent = connect(() => new ThreadWorker(new URL('data:text/javascript,throw new Error("broken")')), {
    model: MODEL,
  });
  await expect(silent.initialize()).rejects.toMatchObject({
    code: 'worker-failed',
    message: expect.stringContaining('broken'),
  });
  await silent.dispose();
});

test('a worker in TypeScript, in a Node that reads none: what to do', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-load-'));
  const script = join(folder, 'own.worker.ts');
  writeFileSync(script, 'const one: number = 1;\nthrow new Error(`types are removed ${one}`);\n');
  // In a process of its own: threads of this one have Playwright's compiler.
  const program = `
    import { connect, ThreadWorker } from ${JSON.stringify(new URL('dist/node.js', root))};
    const own = connect(() => new ThreadWorker(new URL(${JSON.stringify(pathToFileURL(script))})), { model: '${MODEL}' });
    await own.initialize().catch(({ message }) => console.log(message));
    await own.dispose();
  `;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program]);
  // Node says since 22.10 whether it can read TypeScript.
  const { typescript } = process.features as { readonly typescript?: string | false };
  expect(stdout).toMatch(
    typescript
      ? /types are removed 1/
      : /Missing initializer in const declaration \(.*own\.worker\.ts\)\. Compile it to JavaScript first: /,
  );
  rmSync(folder, { recursive: true });
});

test('what is wrong is said by typed errors', async () => {
  await expect(load('public/models/none/')).rejects.toMatchObject({ code: 'model-not-found' });
  await expect(load('')).rejects.toMatchObject({ code: 'model-config' });
  await expect(load(MODEL, { backends: ['webgpu'] })).rejects.toMatchObject({ code: 'no-backend' });
  await using digits = await load(fileURLToPath(MODEL));
  const music = new Blob([new Uint8Array(100)], { type: 'audio/mpeg' });
  await expect(digits.predict(music as never)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('WAV'),
  });
  const bmp = new Blob([readFileSync(new URL('test/goldens/images/rgb.bmp', root))]);
  await expect(digits.predict(bmp)).rejects.toMatchObject({
    code: 'unsupported',
    message: expect.stringContaining('bmp'),
  });
});

test('a full queue is 503 over HTTP, and what waits is answered', async () => {
  const { answerWith, ModelServer } =
    await dist<typeof import('../../src/server/model-server.ts')>('server/model-server.js');
  const { serveHttp } = await dist<typeof import('../../src/server/node/http/serve-http.ts')>(
    'server/node/http/serve-http.js',
  );
  await using server = new ModelServer();
  await using digits = await load(MODEL, { jobQueueSize: 2 });
  await server.register(digits as never, { name: 'digits' });
  const http = await serveHttp((request) => answerWith(server, request), {
    host: '127.0.0.1',
    port: 0,
    timeout: 60_000,
    hosts: [],
    origins: [],
  });
  const body = new Uint8Array(await sample('digit-9.png').arrayBuffer());
  const statuses = await Promise.all(
    Array.from(
      { length: 30 },
      async () => (await fetch(`${http.url}/predictions/digits`, { method: 'POST', body })).status,
    ),
  );
  await http.close();
  expect([...new Set(statuses)].sort()).toEqual([200, 503]);
});

test('the process exits by itself after dispose; without onnxruntime-node, the error says what to install', async () => {
  const script = (backends: string): string => `
    import { load } from 'tabserve/node';
    const digits = await load('./public/models/digits/', { backends: ${backends} }).catch(({ code, message }) => console.log(code, message));
    await digits?.dispose();
    console.log('disposed');
  `;
  const present = await runNode(['-e', script('undefined')]);
  expect(present).toEqual({ code: 0, output: 'disposed\n' });
  const hidden = ['--import', './test/node/without.mjs', '-e'];
  const env = { ...process.env, WITHOUT: 'onnxruntime-node' };
  const missing = await runNode([...hidden, script('undefined')], env);
  expect(missing).toEqual({
    code: 0,
    output: expect.stringMatching(/^no-backend [^]*npm install onnxruntime-node@1\.30\.0[^]*disposed/),
  });
  expect(await runNode([...hidden, script("['wasm']")], env)).toEqual({ code: 0, output: 'disposed\n' });
});

test('of a repository, the cause is why its only model does not run, not the precisions that are not there', async () => {
  const script = `
    import { load } from 'tabserve/node';
    await load('./test/models/tasks/images-clip/').catch(({ message, cause }) => console.log(message, '|', cause.message));
  `;
  const env = { ...process.env, WITHOUT: 'onnxruntime-node' };
  const { output } = await runNode(['--import', './test/node/without.mjs', '-e', script], env);
  expect(output).toMatch(/\| onnx\/cpu could not be started: onnxruntime-node is not installed/);
  expect(output).not.toMatch(/has none of|fp16|fp32/);
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
  cpSync(new URL('test/models/tasks/images-clip/', root), folder, { recursive: true });
  cpSync(new URL('test/models/missing_op.onnx', root), join(folder, 'onnx/model.onnx'));
  const opening = load(pathToFileURL(`${folder}/`));
  await expect(opening).rejects.toMatchObject({
    code: 'no-backend',
    message: expect.not.stringContaining('has none of'),
    cause: { code: 'backend-failed', message: expect.stringContaining('Frobnicate') },
  });
});

function runNode(args: readonly string[], env = process.env): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, ['--input-type=module', ...args], { cwd: fileURLToPath(root), env });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.once('exit', (code) => resolve({ code, output })));
}

test('an input that is kept is encoded once in a thread', async () => {
  await using client = await load<'promptable_segmenter'>(new URL('test/models/tasks/prompt-sam/', root), {
    backends: ['onnx/cpu'],
  });
  const encoded: boolean[] = [];
  client.on('response', ({ nodes }) => encoded.push(nodes !== undefined && 'vision' in nodes));
  const photo = { data: Uint8Array.from({ length: 61 * 47 * 3 }, (_, at) => (at * 7) % 256), dims: [47, 61, 3] };
  const kept = await client.keep(photo);
  const ask = async (image: unknown) => await client.predict({ image, points: [[20, 20]] } as never);
  const answers = [await ask(photo), await ask(kept), await ask(kept)];
  expect(answers).toEqual([answers[0], answers[0], answers[0]]);
  expect(encoded).toEqual([true, true, false]);
  kept.release();
});
