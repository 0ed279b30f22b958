// The answers are compared with transformers' in `test/browser/coverage.spec.ts`; here, what does not fit.
import { expect, test } from '@playwright/test';
import { Encoder } from '../../../../../src/worker/generation/encoder.ts';
import { ImageToText } from '../../../../../src/worker/tasks/writing/image-to-text.ts';
import type { TensorInfo } from '../../../../../src/contract/tensors.ts';
import { stubSession } from '../../../support/stub-session.ts';

const float = (name: string, ...dims: (number | null)[]): TensorInfo => ({ name, dtype: 'float32', dims });
const pixels = float('pixel_values', null, 3, 32, 32);
const states = float('last_hidden_state', null, 17, 16);

test("an encoder of images reads pixels; another's inputs are told", () => {
  expect(
    new Encoder(
      stubSession([pixels], [states], () => ({})),
      'image',
    ).input,
  ).toEqual(pixels);
  expect(
    () =>
      new Encoder(
        stubSession([float('input_ids', null, null)], [states], () => ({})),
        'image',
      ),
  ).toThrow(/^The encoder of an image has the input "pixel_values" \[rows, channels, height, width\]/);
  expect(
    () =>
      new Encoder(
        stubSession([pixels, float('bbox', 1, 4)], [states], () => ({})),
        'image',
      ),
  ).toThrow('image_to_text fills no input "bbox" [1, 4] of an encoder');
});

test("the decoder's part of config.json has the limit; languages are no options", () => {
  const limits = ImageToText.huggingFace.handlerConfig!;
  expect(limits({ decoder: { max_position_embeddings: 512 } }, {})).toEqual({ contextLength: 512 });
  expect(limits({ decoder: { n_positions: 1024 } }, {})).toEqual({ contextLength: 1024 });
  expect(limits({}, {})).toEqual({});
  expect(Object.keys(ImageToText.schema)).not.toContain('srcLang');
});
