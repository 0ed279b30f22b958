// The steps' answers are compared with timm's own in `test/browser/coverage.spec.ts`; here, the defaults, and what is refused.
import { expect, test } from '@playwright/test';
import { labelsOf } from '../../../../../src/shared/hugging-face.ts';
import { timmConfigOf, timmHandlerOf, timmProcessing } from '../../../../../src/worker/models/hugging-face/timm.ts';

const SQUARE = { input_size: [3, 224, 224] };

test('fields that are missing have the defaults of timm', () => {
  expect(timmProcessing(SQUARE)).toEqual([
    { resize: { size: 256, interpolation: 'bicubic' } },
    { centerCrop: [224, 224] },
    'toTensor',
    { normalize: { mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225] } },
  ]);
});

test('squash scales each side, and center the shorter one', () => {
  const [center] = timmProcessing({ ...SQUARE, crop_pct: 0.9, crop_mode: 'center', interpolation: 'bilinear' });
  expect(center).toEqual({ resize: { size: 248, interpolation: 'bilinear' } });
  const [squash] = timmProcessing({ input_size: [3, 64, 48], crop_pct: 0.95, crop_mode: 'squash' });
  expect(squash).toEqual({ resize: { size: [67, 50], interpolation: 'bicubic' } });
});

test('only a config in timm’s form is one; without classes, the model has vectors', () => {
  expect(timmConfigOf({ architecture: 'resnet18', pretrained_cfg: SQUARE })).toBe(SQUARE);
  expect(timmConfigOf({ architecture: 'resnet18' })).toBeUndefined();
  expect(timmConfigOf({ architectures: ['A'], pretrained_cfg: SQUARE })).toBeUndefined();
  expect([timmHandlerOf({ num_classes: 1000 }), timmHandlerOf({ num_classes: 0 })]).toEqual([
    'image_classifier',
    'image_feature_extractor',
  ]);
  expect(labelsOf({ label_names: ['cat', 'dog'], num_classes: 2 })).toEqual({ 0: 'cat', 1: 'dog' });
  expect(labelsOf({ num_classes: 3 })).toEqual({ 0: 'LABEL_0', 1: 'LABEL_1', 2: 'LABEL_2' });
});

for (const [field, value, expected] of [
  ['input_size', [1, 28, 28], '[3, height, width]'],
  ['input_size', undefined, 'is missing; expected [3, height, width]'],
  ['crop_pct', 1.2, 'above 0, at most 1'],
  ['crop_mode', 'border', 'squash, or center for a square input'],
  ['interpolation', 'random', 'bilinear'],
  ['mean', 0.5, 'three numbers'],
  ['std', [1, 1], 'three numbers'],
] as const)
  test(`pretrained_cfg.${field} ${JSON.stringify(value)} is refused`, () => {
    expect(() => timmProcessing({ ...SQUARE, [field]: value })).toThrow(
      expect.objectContaining({
        code: 'model-config',
        message: expect.stringMatching(
          new RegExp(`^config\\.json: pretrained_cfg\\.${field} .*handler\\.imageProcessing`),
        ),
      }) as unknown as Error,
    );
    expect(() => timmProcessing({ ...SQUARE, [field]: value })).toThrow(expected);
  });

test('center of an input that is not square is refused', () => {
  expect(() => timmProcessing({ input_size: [3, 64, 48] })).toThrow('pretrained_cfg.crop_mode is missing');
});
