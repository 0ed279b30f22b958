import { readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from '@playwright/test';
import { unchangedPath } from '../../../../../src/worker/engines/onnx/node.ts';
import { readModel } from '../../../../../src/worker/engines/onnx/read-model.ts';
import { createFiles } from '../../../../../src/worker/models/files.ts';

const MODEL = new URL('../../../../models/moderation/model.onnx', import.meta.url);
const SMALL = readFileSync(MODEL);
/** The model with 15 MB of documentation in two more fields 6 of `onnx.proto`. */
const LENGTH = 2 ** 21 - 1;
const DOCUMENTATION = Buffer.concat([
  Buffer.of((6 << 3) | 2, 0xff, 0xff, 0x7f),
  Buffer.alloc(LENGTH, 'documentation '),
]);
const LARGE = Buffer.concat([SMALL, ...Array<Buffer>(8).fill(DOCUMENTATION)]);

const url = (): URL => new URL('file:///models/m.onnx');
const onDisk = { provider: 'cpu', pathOf: async () => '/models/m.onnx' } as const;

test('under Node, ONNX Runtime reads a large file of this machine itself, and no other', async () => {
  const large = { ...createFiles({ m: LARGE }), url };
  const { model, externalData, inputs } = await readModel(onDisk, large, 'm');
  expect([model, externalData, inputs.length > 0]).toEqual(['/models/m.onnx', [], true]);
  for (const [build, files] of [
    [onDisk, createFiles({ m: LARGE })],
    [{ ...onDisk, pathOf: async () => undefined }, large],
    [onDisk, { ...createFiles({ m: SMALL }), url }],
  ] as const) {
    const bytes = (await readModel(build, files, 'm')).model;
    expect(bytes).toBeInstanceOf(Uint8Array);
    expect(bytes.length).toBe((await files.blob('m')).size);
  }
});

test('a file that may have changed after it was read has no path', async ({}, info) => {
  const { size } = statSync(MODEL);
  expect(await unchangedPath(MODEL, size)).toBe(fileURLToPath(MODEL));
  expect(await unchangedPath(MODEL, size + 1), 'another size').toBeUndefined();
  expect(await unchangedPath(new URL('https://example.org/m.onnx'), size)).toBeUndefined();
  const path = info.outputPath('m.onnx');
  writeFileSync(path, SMALL);
  // As a copy does that keeps the dates of the original.
  utimesSync(path, 0, 0);
  expect(await unchangedPath(pathToFileURL(path), size), 'written while this process runs').toBeUndefined();
});
