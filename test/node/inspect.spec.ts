// `npx tabserve inspect --write`: the folders that it makes load, and answer as the archives of docs/model-config.md do.
import { spawn, spawnSync, type SpawnSyncReturns } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';

const path = (name: string): string => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const main = path('dist/tools/cli/main.js');
const { load } = (await import(pathToFileURL(path('dist/node.js')).href)) as typeof import('../../src/node.ts');

/** Returns a folder with a stand-in of test/docs and the files beside it. */
function folderOf(model: string, beside: Readonly<Record<string, string>> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
  cpSync(path(`test/docs/${model}`), join(folder, model));
  for (const [name, text] of Object.entries(beside)) writeFileSync(join(folder, name), text);
  return folder;
}
const run = (cwd: string, ...args: string[]): SpawnSyncReturns<string> =>
  spawnSync(process.execPath, [main, 'inspect', ...args], { encoding: 'utf8', cwd, timeout: 60_000 });

const PHOTO = { data: new Uint8ClampedArray(320 * 160 * 4).fill(128), dims: [160, 320, 4] };
const near = (value: number): unknown => expect.closeTo(value, 4);

test('a classifier: with the labels beside it', async () => {
  const labels = Array.from({ length: 1000 }, (_, index) => (index === 281 ? 'tabby' : `class ${index}`));
  const folder = folderOf('mobilenet_v3_small.onnx', { 'index_to_name.json': JSON.stringify(labels) });
  // The folder has one model.
  const { status, stderr } = run(folder, '.', '--write', '-o', 'models/mobilenet');
  expect([status, stderr]).toEqual([0, '']);
  await using client = await load<'image_classifier'>(pathToFileURL(join(folder, 'models/mobilenet/')));
  // The stand-in's logits are 9 for tabby, and 0: test/docs/make.py.
  expect((await client.predict(PHOTO))[0]).toEqual({ label: 'tabby', score: near(Math.exp(9) / (Math.exp(9) + 999)) });
});

test('an address of the Hub without its scheme, on the command line and under Node', async () => {
  const dataset = 'huggingface.co/datasets/org/name';
  const why = `https://${dataset} is a dataset, not a model.`;
  const { status, stderr } = run(tmpdir(), dataset);
  expect([status, stderr]).toEqual([1, expect.stringContaining(why)]);
  await expect(load(dataset)).rejects.toMatchObject({ code: 'model-config', message: expect.stringContaining(why) });
});

test('a detector of Ultralytics, over HTTP; the folder is overwritten with --force only', async () => {
  const folder = folderOf('yolov8n.onnx');
  expect(run(folder, 'yolov8n.onnx', '--write').stdout).toMatch(/object_detector, by the file's metadata, task detect/);
  const again = run(folder, 'yolov8n.onnx', '--write');
  expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('yolov8n exists already')]);
  expect(run(folder, 'yolov8n.onnx', '--write', '--force').status).toBe(0);
  const server = spawn(process.execPath, [main, 'serve', 'yolov8n', '--port', '0'], { cwd: folder });
  try {
    let printed = '';
    let origin: string | undefined;
    for await (const chunk of server.stdout as AsyncIterable<Buffer>) {
      printed += chunk.toString();
      origin = /Listening on (\S+)/.exec(printed)?.[1];
      if (origin !== undefined) break;
    }
    const photo = readFileSync(path('public/models/digits/samples/digit-0.png'));
    const response = await fetch(`${origin}/predictions/yolov8n`, { method: 'POST', body: photo });
    // The stand-in finds a cat at 270 to 370 and 295 to 345 of 640 pixels; the photo has 28.
    const box = [270, 295, 370, 345].map((at) => near((at * 28) / 640));
    expect([response.status, await response.json()]).toEqual([200, [{ cat: box, score: near(0.9) }]]);
  } finally {
    const closed = once(server, 'close');
    server.kill();
    await closed;
  }
});

test('a text model: with the tokenizer beside it, and without one nothing is written', async () => {
  const labels = { 'index_to_name.json': '["NEGATIVE", "POSITIVE"]' };
  const bare = folderOf('distilbert_sst2.onnx', labels);
  const failed = run(bare, 'distilbert_sst2.onnx', '--write');
  expect([failed.status, failed.stdout]).toEqual([1, expect.stringContaining('AutoTokenizer')]);
  expect(failed.stderr).toContain('tokenizer.json');
  const tokenizer = readFileSync(path('test/docs/tokenizer.json'), 'utf8');
  const folder = folderOf('distilbert_sst2.onnx', { ...labels, 'tokenizer.json': tokenizer });
  expect(run(folder, 'distilbert_sst2.onnx', '--write')).toMatchObject({ status: 0, stderr: '' });
  await using client = await load<'text_classifier'>(pathToFileURL(join(folder, 'distilbert_sst2/')));
  // The stand-in's logits are 2 and -2.
  expect(await client.predict('a good film')).toEqual([
    { label: 'POSITIVE', score: near(1 / (1 + Math.exp(-4))) },
    { label: 'NEGATIVE', score: near(1 / (1 + Math.exp(4))) },
  ]);
});

test('flags that need --write, and what it cannot write, are refused', () => {
  const folder = folderOf('yolov8n.onnx');
  for (const [args, words] of [
    [['yolov8n.onnx', '--force'], '--force needs --write'],
    [['yolov8n.onnx', '--output', 'there'], '--output needs --write'],
    // The folder itself, not one of its name in it.
    [['yolov8n.onnx', '--write', '--output', '.'], 'exists already, and is no archive'],
    [['yolov8n.onnx', '--write', '--output', 'a b'], '--output: expected letters'],
    [['https://example.com/model.onnx', '--write'], 'is a URL'],
    [[path('public/models/digits'), '--write'], 'is an archive already'],
    [[path('test/models/yolo-pose/people.onnx'), '--write'], 'needs no archive'],
  ] as const)
    expect(run(folder, ...args)).toMatchObject({ status: 1, stderr: expect.stringContaining(words) });
});
