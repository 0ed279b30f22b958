import { mkdtempSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { createArchive } from '../../../../src/tools/cli/archive.ts';
import { checkArchive } from '../../../../src/tools/cli/check.ts';

/**
 * The configs of docs/your-model.md, packed with the stand-ins of test/docs: models with the same inputs and outputs.
 */
const path = (name: string): string => fileURLToPath(new URL(`../../../docs/${name}`, import.meta.url));

for (const [config, model, handler, extra, golden] of [
  ['pytorch', 'mobilenet_v3_small.onnx', 'image_classifier', '', 'seed:1'],
  ['keras', 'mobilenetv2_keras.onnx', 'image_classifier', '', 'seed:1'],
  ['hugging-face', 'distilbert_sst2.onnx', 'text_classifier', 'tokenizer.json', 'text.json'],
] as const) {
  test(`the config of docs/your-model.md for ${config} makes an archive that passes its check`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
    await cp(path(`your-model/${config}.yaml`), join(folder, 'model-config.yaml'));
    const made = await createArchive({
      'model-name': 'model',
      'serialized-file': path(model),
      handler,
      'config-file': join(folder, 'model-config.yaml'),
      ...(extra && { 'extra-files': path(extra) }),
      'archive-format': 'no-archive',
      'export-path': folder,
      golden: golden === 'seed:1' ? golden : path(`your-model/${golden}`),
    });
    expect(await checkArchive(made.path)).toMatch(/1 golden example reproduced/);
  });
}
