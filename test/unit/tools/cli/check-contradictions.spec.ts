import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { createArchive } from '../../../../src/tools/cli/archive.ts';
import { checkArchive } from '../../../../src/tools/cli/check.ts';

const STEPS = 'imageProcessing: [{ resize: [320, 320] }, toTensor]';

/** Packs a model with a config, and checks the archive. */
async function check(...[model, handler, ...keys]: readonly string[]): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'tabserve-'));
  writeFileSync(join(folder, 'model-config.yaml'), `handler:\n${keys.map((key) => `  ${key}\n`).join('')}`);
  const { path } = await createArchive({
    'model-name': 'one',
    'serialized-file': fileURLToPath(
      new URL(
        model!.includes('/') ? `../../../../${model}` : `../../../models/contradictions/${model}.onnx`,
        import.meta.url,
      ),
    ),
    handler: handler!,
    'config-file': join(folder, 'model-config.yaml'),
    'export-path': folder,
  });
  return await checkArchive(path);
}

test('archive --check: a config that contradicts the model fails, with every reason', async () => {
  const flowers = 'imageProcessing: [{ resize: [224, 224] }, toTensor]';
  for (const [args, ...messages] of [
    [['end-to-end', 'object_detector', STEPS, 'decoder: yolov8'], 'handler.decoder is yolov8', 'decoder: rows'],
    [
      ['end-to-end', 'object_detector', STEPS, 'decoder: rows', 'labels: [cat, dog]'],
      'handler.labels: class 0 is "cat"',
    ],
    [['dense', 'image_classifier', STEPS], 'for the task detect'],
    // TensorFlow.js, whose graph ends in Softmax.
    [
      [
        'public/models/orientation/model.json',
        'image_classifier',
        'imageProcessing: [{ resize: [48, 192] }, toTensor]',
      ],
      '"softmax_0.tmp_0" with Softmax',
    ],
    [
      ['probabilities', 'image_classifier', flowers, 'labels: [tulip, rose, iris]'],
      '"output" with Softmax',
      'class 0 is "tulip"',
    ],
  ] as const)
    for (const message of messages)
      await expect(check(...args)).rejects.toMatchObject({
        code: 'model-config',
        message: expect.stringContaining(message),
      });
  expect(await check('end-to-end', 'object_detector', STEPS, 'decoder: rows')).toContain('opens under Node');
  expect(await check('dense', 'object_detector', STEPS, 'decoder: yolov8', 'labels: [person, bicycle]')).toContain(
    'opens under Node',
  );
  expect(await check('probabilities', 'image_classifier', flowers, 'output: probabilities')).toContain('opens');
});
