import { readdirSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const MAX_BYTES = 300_000;

/** Files that were larger before there was a limit. Add none: a smaller model or fewer cases show the same. */
const LARGER = [
  'test/goldens/detection/goldens.json',
  'test/goldens/offsets/offsets.json.gz',
  'test/models/blazeface/blazeface-back.onnx',
  'test/models/blazeface/blazeface-front.onnx',
  'test/models/generation/bart/onnx/decoder_model_merged.onnx',
  'test/models/generation/gemma3/onnx/model.onnx',
  'test/models/generation/marian/onnx/decoder_model_merged.onnx',
  'test/models/moderation/group1-shard1of1.bin',
  'test/models/moderation/model.onnx',
  'test/models/vad/stereo-48k.wav',
];

const root = fileURLToPath(new URL('../../../', import.meta.url));

/** The files of a folder, without what is installed or made there, such as a model beside its `.gz`. */
function* filesOf(folder: string): Generator<string> {
  const entries = readdirSync(`${root}${folder}`, { withFileTypes: true });
  for (const entry of entries) {
    const path = `${folder}/${entry.name}`;
    if (!entry.isDirectory()) {
      if (!entries.some(({ name }) => name === `${entry.name}.gz`)) yield path;
    } else if (!['node_modules', 'dist', 'test-results', '__pycache__'].includes(entry.name)) yield* filesOf(path);
  }
}

test('no file in `test` has more than 300 kB, but for those that are listed', () => {
  const larger = [...filesOf('test')].filter((path) => statSync(root + path).size > MAX_BYTES);
  expect(larger.toSorted()).toEqual(LARGER);
});
