import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { MadeUpHub } from '../../../hub.ts';
import { isModelFile } from '../../../../src/tools/cli/inspect.ts';
import { inspectRepository } from '../../../../src/tools/cli/inspect-repository.ts';

const MODELS = new URL('../../../models/', import.meta.url);
const folder = (path: string): string => fileURLToPath(new URL(path, MODELS));

test('a folder of a repository: its handler, its models by precision, and the files beside them', async () => {
  const text = await inspectRepository(folder('generation/llama_fused'));
  expect(text.split('\n').slice(0, 3)).toEqual([
    'llama_fused',
    expect.stringMatching(/^ {2}handler +text_generator$/),
    expect.stringMatching(/^ {2}model +onnx\/model\.onnx: fp32, \d+ kB, about 80\.\d MB of memory in a browser$/),
  ]);
  // The weights of q4 are in files of their own.
  expect(text).toMatch(/onnx\/model_q4\.onnx: q4, \d+(\.\d+)? kB/);
  expect(text).toMatch(/files beside +.*generation_config\.json: \d+ bytes/s);
  const pair = await inspectRepository(folder('generation/t5'));
  expect(pair).toMatch(
    /model encoder +onnx\/encoder_model\.onnx: fp32, .*\n +model decoder +onnx\/decoder_model_merged/,
  );
});

/** Answers a request for a file, whose bytes are undefined if there is no such file. */
type Answer = (request: IncomingMessage, response: ServerResponse, bytes: Buffer | undefined) => void;

const plainly: Answer = ({ method }, response, bytes) => {
  if (!bytes) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-length': bytes.length }).end(method === 'HEAD' ? undefined : bytes);
};

/** Inspects a folder that a server has. */
async function inspectServed(path: string, answer: Answer): Promise<string> {
  const server = createServer((request, response) => {
    const file = folder(path + request.url!.replace(/\?.*/, ''));
    answer(request, response, existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined);
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  try {
    return await inspectRepository(`http://127.0.0.1:${port}/?token=1`);
  } finally {
    server.close();
  }
}

/** The lines of a row, and of those with the same label and a node's name. */
function rowOf(text: string, label: string): readonly string[] {
  const lines = text.split('\n').map((line) => line.match(/^ {2}(\S+(?: \S+)*)? {2,}(.*)$/));
  let last: string | undefined;
  return lines.flatMap((line) => {
    last = line?.[1] ?? last;
    return line && last === label ? [line[2]!] : [];
  });
}

test('a URL: sizes are asked for, with its query, and no weights are downloaded', async () => {
  const asked: string[] = [];
  const text = await inspectServed('hugging-face/vit', (request, response, bytes) => {
    if (request.url!.includes('.onnx')) asked.push(request.method!);
    if (!request.url!.endsWith('?token=1')) return void response.writeHead(403).end();
    plainly(request, response, bytes);
  });
  expect(text).toMatch(
    /handler +image_classifier\n +model +onnx\/model\.onnx: fp32, \d+(\.\d+)? kB, about 80\.\d MB of memory in a browser\n/,
  );
  expect(text).toContain('"imageProcessing"');
  expect(new Set(asked)).toEqual(new Set(['HEAD']));
});

test('a development server: a page of HTML instead of a file is no file', async () => {
  const text = await inspectServed('tasks/images-clip', (request, response, bytes) => {
    if (bytes) return plainly(request, response, bytes);
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html>');
  });
  expect(rowOf(text, 'model')).toEqual([
    expect.stringMatching(/^onnx\/model\.onnx: fp32, \d+ kB, about 80\.\d MB of memory in a browser$/),
  ]);
  expect(rowOf(text, 'files beside').map((line) => line.replace(/:.*/, ''))).toEqual([
    'config.json',
    'preprocessor_config.json',
    'tokenizer.json',
    'tokenizer_config.json',
  ]);
});

test('a server without the model’s file: an error names the files that it may be in', async () => {
  const without = inspectServed('hugging-face/vit', (request, response, bytes) =>
    bytes && !request.url!.includes('.onnx') ? plainly(request, response, bytes) : void response.writeHead(404).end(),
  );
  await expect(without).rejects.toMatchObject({
    code: 'model-not-found',
    message: expect.stringMatching(/has none of onnx\/model\.onnx, .*export one with Optimum/),
  });
});

test('a server that does not say the size, that knows no HEAD, and that fails', async () => {
  const unsized = await inspectServed('hugging-face/vit', ({ method }, response, bytes) => {
    if (bytes) response.writeHead(200, { 'transfer-encoding': 'chunked' }).end(method === 'HEAD' ? undefined : bytes);
    else response.writeHead(404).end();
  });
  expect(rowOf(unsized, 'model')).toEqual(['onnx/model.onnx: fp32, its size is unknown']);
  const headless = await inspectServed('hugging-face/vit', (request, response, bytes) =>
    request.method === 'HEAD' ? void response.writeHead(405).end() : plainly(request, response, bytes),
  );
  expect(rowOf(headless, 'model')).toEqual([expect.stringMatching(/^onnx\/model\.onnx: fp32, \d/)]);
  const failing = inspectServed('hugging-face/vit', (request, response, bytes) =>
    request.method === 'HEAD' ? void response.writeHead(500).end() : plainly(request, response, bytes),
  );
  await expect(failing).rejects.toMatchObject({
    code: 'network',
    message: expect.stringMatching(/\.onnx\?token=1: the server answers 500\./),
  });
});

test('labels are counted, with the file that has them, and no file is listed that there is not', async () => {
  const text = await inspectRepository(folder('tasks/classify-bert'));
  expect(rowOf(text, 'labels')).toEqual(['3, from config.json']);
  expect(text).not.toContain('index_to_name.json');
  const digits = await inspectRepository(folder('../../public/models/digits'));
  expect(rowOf(digits, 'labels')).toEqual(['10, from index_to_name.json']);
  for (const withoutClasses of ['images-clip', 'prompt-sam'])
    expect(rowOf(await inspectRepository(folder(`tasks/${withoutClasses}`)), 'labels')).toEqual([]);
  expect(rowOf(digits, 'files beside')).toContainEqual('index_to_name.json: 153 bytes');
});

test('nodes: each has its files and its config', async () => {
  const sam = await inspectRepository(folder('tasks/prompt-sam'));
  // Beside each model is the file that the tests make it from.
  expect(rowOf(sam, 'files beside').filter((line) => !/\.gz: /.test(line))).toEqual([
    expect.stringMatching(/^config\.json: /),
    expect.stringMatching(/^preprocessor_config\.json: /),
  ]);
  expect(rowOf(sam, 'config')).toEqual([]);
  expect(JSON.parse(rowOf(sam, 'config vision')[0]!)).toMatchObject({
    handler: { imageProcessing: [{ resize: { size: 64 } }, 'toTensor', {}, {}] },
  });
  // The nodes' archives are folders in that of the workflow.
  const expected = {
    detect: /^model\.onnx: 239 kB, about 80\.6 MB /,
    landmarks: /^model\.onnx: 1\.54 MB, about 84 MB /,
  };
  for (const text of [
    await inspectRepository(folder('../../public/models/face')),
    await inspectServed('../../public/models/face', plainly),
  ])
    for (const [node, line] of Object.entries(expected)) {
      expect(rowOf(text, `model ${node}`)).toEqual([expect.stringMatching(line)]);
      expect(rowOf(text, 'files beside')).toContainEqual(expect.stringContaining(`${node}/golden.safetensors: `));
    }
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

test('a class that no test compares: the handler of its name, and its files', async () => {
  const inspected = async (config: object, files: readonly string[]): Promise<string> => {
    const made = mkdtempSync(join(tmpdir(), 'tabserve-'));
    writeFileSync(join(made, 'config.json'), JSON.stringify(config));
    for (const file of files) writeFileSync(join(made, file), 'no model');
    return await inspectRepository(made);
  };
  const said = (name: string, handler: string): RegExp =>
    new RegExp(
      `handler +By its name, the class ${name} .* Set the option handler of load to '${handler}'.*archive --handler`,
    );
  const one = await inspected({ architectures: ['FooForXVector'] }, ['model.onnx']);
  expect(one).toMatch(said('FooForXVector', 'speaker_embedder'));
  expect(one).toMatch(/model +model\.onnx: fp32, 8 bytes/);
  const config = { architectures: ['FooForConditionalGeneration'], is_encoder_decoder: true };
  const pair = await inspected(config, ['encoder_model.onnx', 'decoder_model_merged.onnx', 'tokenizer.json']);
  expect(pair).toMatch(said('FooForConditionalGeneration', 'text_to_text'));
  expect(pair).toMatch(/model encoder +encoder_model\.onnx: fp32, 8 bytes/);
});

test('a repository of the Hub, by its short form and by a page: sizes are those that the Hub lists', async () => {
  const model = folder('hugging-face/vit');
  const read = (path: string): Buffer => readFileSync(join(model, path));
  using hub = await MadeUpHub.start({
    repositories: {
      'org/vit': {
        revisions: {
          v1: {
            'config.json': { bytes: read('config.json') },
            'preprocessor_config.json': { bytes: read('preprocessor_config.json') },
            'onnx/model.onnx': { bytes: read('onnx/model.onnx'), isLarge: true },
          },
        },
      },
    },
  });
  const { fetch } = globalThis;
  globalThis.fetch = hub.fetch();
  try {
    for (const address of ['hf:org/vit@v1', 'https://huggingface.co/org/vit/blob/v1/onnx/model.onnx']) {
      expect(isModelFile(address)).toBe(false);
      const text = await inspectRepository(address);
      expect(text).toMatch(
        /^vit\n +handler +image_classifier\n +model +onnx\/model\.onnx: fp32, \d+(\.\d+)? kB, about 80\.\d MB of memory in a browser\n/,
      );
    }
  } finally {
    globalThis.fetch = fetch;
  }
  expect(hub.paths.filter((path) => path.includes('.onnx'))).toEqual([]);
  expect(isModelFile('https://huggingface.co/org/vit/resolve/main/onnx/model.onnx')).toBe(true);
});
