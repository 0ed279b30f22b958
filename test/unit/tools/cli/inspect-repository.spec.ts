import { createServer } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { inspectRepository } from '../../../../src/tools/cli/inspect-repository.ts';

const MODELS = new URL('../../../models/', import.meta.url);
const folder = (path: string): string => fileURLToPath(new URL(path, MODELS));

test('a folder of a repository: its handler, its models by precision, and the files beside them', async () => {
  const text = await inspectRepository(folder('generation/llama_fused'));
  expect(text.split('\n').slice(0, 3)).toEqual([
    'llama_fused',
    expect.stringMatching(/^ {2}handler +text_generator$/),
    expect.stringMatching(/^ {2}model +onnx\/model\.onnx: fp32, \d+ kB$/),
  ]);
  // The weights of q4 are in files of their own.
  expect(text).toMatch(/onnx\/model_q4\.onnx: q4, \d+(\.\d+)? kB/);
  expect(text).toMatch(/files beside +.*generation_config\.json: \d+ bytes/s);
  const pair = await inspectRepository(folder('generation/t5'));
  expect(pair).toMatch(
    /model encoder +onnx\/encoder_model\.onnx: fp32, .*\n +model decoder +onnx\/decoder_model_merged/,
  );
});

test('a URL: sizes are asked for, and no weights are downloaded', async () => {
  const asked: string[] = [];
  const server = createServer(({ method, url }, response) => {
    const path = folder(`hugging-face/vit${url}`);
    if (url!.endsWith('.onnx')) asked.push(method!);
    if (!existsSync(path) || !statSync(path).isFile()) return void response.writeHead(404).end();
    const bytes = readFileSync(path);
    response.writeHead(200, { 'content-length': bytes.length }).end(method === 'HEAD' ? undefined : bytes);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const text = await inspectRepository(`http://127.0.0.1:${port}/`);
  server.close();
  expect(text).toMatch(/handler +image_classifier\n +model +onnx\/model\.onnx: fp32, \d+(\.\d+)? kB\n/);
  expect(text).toContain('"imageProcessing"');
  expect(new Set(asked)).toEqual(new Set(['HEAD']));
});

test('an archive has its handler and its model; an unknown architecture is said, and its files are listed', async () => {
  expect(await inspectRepository(folder('../../public/models/digits'))).toMatch(/handler +image_classifier\n +model +/);
  const unknown = mkdtempSync(join(tmpdir(), 'tabserve-'));
  writeFileSync(join(unknown, 'config.json'), '{"architectures":["FooForBars"]}');
  writeFileSync(join(unknown, 'model.onnx'), 'no model');
  const text = await inspectRepository(unknown);
  expect(text).toMatch(/handler +There is no built-in handler "FooForBars".*\n +model +model\.onnx: fp32, 8 bytes/);
  await expect(inspectRepository(folder('nothing'))).rejects.toMatchObject({ code: 'model-not-found' });
});
