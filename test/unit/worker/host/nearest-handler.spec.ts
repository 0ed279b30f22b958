// The models of `test/models/tasks`: each is nearest to the handler of its task, or to one that answers the same outputs.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Archive } from '../../../../src/contract/archive.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';
import { readSignature } from '../../../../src/worker/engines/onnx/signature.ts';
import { nearestHandler, withNearest } from '../../../../src/worker/host/nearest-handler.ts';

const model = (repository: string) =>
  new Uint8Array(readFileSync(new URL(`../../../models/tasks/${repository}/onnx/model.onnx`, import.meta.url)));

const NEAREST: Readonly<Record<string, readonly string[]>> = {
  image_classifier: ['image-vit', 'image-resnet'],
  object_detector: ['detect-detr', 'detect-yolos', 'detect-rt-detr'],
  zero_shot_object_detector: ['find-owl-vit', 'find-grounding-dino'],
  zero_shot_image_classifier: ['images-clip', 'images-siglip'],
  text_classifier: ['classify-bert', 'zero-shot-bert'],
  image_feature_extractor: ['features-vit'],
  // A vocabulary of a few hundred words may be labels.
  base_handler: ['fill-mask-bert'],
};

for (const [handler, repositories] of Object.entries(NEAREST))
  test(`${handler} is nearest to ${repositories.join(', ')}`, () => {
    for (const repository of repositories) {
      const { inputs, outputs } = readSignature(model(repository));
      expect(nearestHandler(inputs, outputs).handler, repository).toBe(handler);
    }
  });

test('other outputs: vectors, maps, a vocabulary', () => {
  const info = (name: string, ...dims: (number | null)[]) => ({ name, dtype: 'float32', dims }) as const;
  const [ids, pixels] = [info('input_ids', null, null), info('pixel_values', null, 3, 224, 224)];
  const handler = (...[inputs, outputs]: Parameters<typeof nearestHandler>) => nearestHandler(inputs, outputs).handler;
  expect(handler([pixels], [info('image_embeds', null, 512)])).toBe('image_feature_extractor');
  expect(handler([pixels], [info('logits', null, 150, 56, 56)])).toBe('image_segmenter');
  expect(handler([pixels], [info('reconstruction', null, 3, 448, 448)])).toBe('image_to_image');
  expect(handler([ids], [info('last_hidden_state', null, null, 384)])).toBe('text_feature_extractor');
  expect(handler([ids], [info('sentence_embedding', null, 384)])).toBe('text_feature_extractor');
  expect(handler([ids], [info('logits', null, null, 30522)])).toBe('fill_mask');
  expect(handler([ids, info('past_key_values.0.key', 1, 2, null, 8)], [info('logits', null, null, 32000)])).toBe(
    'text_generator',
  );
  expect(handler([info('x', null, 4)], [info('y', null, 2)])).toBe('base_handler');
});

test('the error names it if the files are at hand, and otherwise stays as it is', async () => {
  const error = new TabServeError('unknown-handler', 'There is none.');
  const archive = (bytes: Uint8Array<ArrayBuffer>): Archive => ({
    url: 'picked',
    manifest: { model: { modelName: 'm', handler: 'OddForThings' } },
    config: {},
    models: { onnx: 'onnx/model.onnx' },
    alternatives: [{ path: 'onnx/model.onnx', precision: 'fp32' }],
    files: {},
    golden: [],
    integrity: {},
    local: { 'onnx/model.onnx': new Blob([bytes]) },
  });
  expect(await withNearest(error, archive(model('image-vit')))).toMatchObject({
    code: 'unknown-handler',
    message:
      'There is none. By its inputs and outputs ("logits" [batch_size, 6]), it is nearest to image_classifier: set the option handler to \'image_classifier\'.',
  });
  expect(await withNearest(error, archive(new Uint8Array(3)))).toBe(error);
  const { local: _, ...remote } = archive(model('image-vit'));
  expect(await withNearest(error, remote)).toBe(error);
  const other = new TabServeError('network', 'no');
  expect(await withNearest(other, archive(model('image-vit')))).toBe(other);
});
