import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';
import { load } from 'js-yaml';
import type { OutputInfo, TensorInfo } from '../../../../src/contract/tensors.ts';
import { guessConfig } from '../../../../src/tools/cli/guess-config.ts';
import { archiveName, configText, nextStep, propose } from '../../../../src/tools/cli/propose.ts';
import { readSignature } from '../../../../src/worker/engines/onnx/signature.ts';
import { examples } from '../../../docs/page.ts';

const path = (model: string): string => fileURLToPath(new URL(`../../../docs/${model}.onnx`, import.meta.url));
const proposed = async (model: string) => await propose(path(model), readSignature(readFileSync(path(model))));

/** The examples of docs/model-config.md, whose models' files say as much as the page's author knew. */
for (const [example, model] of [
  ['mobilenet', 'mobilenet_v3_small'],
  ['yolov5', 'yolov5s'],
  ['yolov8', 'yolov8n'],
  ['yolox', 'yolox_nano'],
  ['yolov10', 'yolov10n'],
  ['detr', 'detr_resnet50'],
  ['deeplab', 'deeplabv3_mobilenet_v3_large'],
  ['resnet-features', 'resnet18_features'],
  ['minilm', 'all_minilm'],
] as const)
  test(`proposes what docs/model-config.md has for ${model}`, async () => {
    const files = examples.get(example)!;
    const { model: manifest } = JSON.parse(files['MAR-INF/MANIFEST.json']!) as { model: { handler: string } };
    const { handler } = (load(files['model-config.yaml']!) ?? {}) as { handler?: Record<string, unknown> };
    const proposal = await proposed(model);
    expect(proposal.handler).toBe(manifest.handler);
    const own = proposal.config.handler ?? {};
    for (const key of ['imageProcessing', 'output'] as const)
      if (own[key] !== undefined && handler?.[key] !== undefined) expect(own[key]).toEqual(handler[key]);
    // A name alone means the decoder's defaults, which the page writes out for `rows`.
    const decoder = handler?.['decoder'];
    if (decoder !== undefined)
      expect(own['decoder']).toBe(typeof decoder === 'string' ? decoder : Object.keys(decoder as object)[0]);
  });

test('what no file says is told in comments, and missing files with how to get them', async () => {
  const proposal = await proposed('mobilenet_v3_small');
  expect(await configText(proposal)).toMatch(/^# Assumed: normalize: ImageNet's\..*\n(# .*\n)*handler:\n/);
  expect(proposal.missing).toEqual(['index_to_name.json: the labels of 1000 classes, as a list']);
  expect(proposal.others).toContain('base_handler');
  // Its tokenizer lies beside it.
  expect(await proposed('distilbert_sst2')).toMatchObject({ handler: 'text_classifier', beside: ['tokenizer.json'] });
});

test('by the dims of the input: gray, channels last, whole numbers', () => {
  const info = (dtype: 'float32' | 'uint8', ...dims: (number | string)[]) => ({ name: 'x', dtype, dims }) as const;
  const steps = (input: TensorInfo, output: OutputInfo, handler = 'image_classifier'): unknown =>
    guessConfig(handler, { inputs: [input], outputs: [output] }).config.handler!['imageProcessing'];
  const classes = info('float32', 1, 10);
  expect(steps(info('float32', 1, 1, 28, 28), classes)).toEqual(['grayscale', { resize: [28, 28] }, 'toTensor']);
  expect(steps(info('uint8', 'n', 192, 256, 3), classes)).toEqual([
    { resize: [192, 256] },
    { toTensor: 1 },
    { layout: 'NHWC' },
  ]);
  const photo = info('float32', 1, 'height', 'width', 3);
  expect(steps(photo, photo, 'image_to_image')).toEqual(['toTensor', { layout: 'NHWC' }]);
});

test('the name of a file becomes the name of an archive', () => {
  expect(['a/b model (1).onnx', 'tfjs/model.json', '.onnx', '_x.onnx'].map(archiveName)).toEqual([
    'b-model-1',
    'model',
    'model',
    'x',
  ]);
});

test('the next command can be pasted: a path with spaces is in quotes', async () => {
  const proposal = await proposed('mobilenet_v3_small');
  expect(nextStep('a/b.onnx', proposal)).toBe('npx tabserve inspect a/b.onnx --write makes the archive b');
  expect(nextStep('a/b (1).onnx', proposal)).toBe('npx tabserve inspect "a/b (1).onnx" --write makes the archive b-1');
});
