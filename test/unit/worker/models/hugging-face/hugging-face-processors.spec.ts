/**
 * Steps that are derived from an image processor's fields, against transformers itself, bit for bit, those that are interpolated to 1e-6 or 1e-5:
 * `test/goldens/hugging-face/make.py`.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Pixels } from '../../../../../src/contract/images.js';
import { HUB_PRECISIONS as PRECISIONS } from '../../../../../src/contract/precisions.js';
import { DETECTORS } from '../../../../../src/worker/tasks/detection/hugging-face.js';
import { imageProcessingOf } from '../../../../../src/worker/models/hugging-face/image-processing.js';
import {
  IMAGE_PROCESSORS,
  TORCHVISION_PROCESSORS,
} from '../../../../../src/worker/models/hugging-face/image-processors.js';
import { compileTransforms, parseTransforms } from '../../../../../src/worker/transforms/index.js';

interface Golden {
  readonly width: number;
  readonly height: number;
  readonly dims: readonly number[];
  readonly sha256: string;
  readonly sample: string;
}

const { classes, models } = JSON.parse(readFileSync('test/goldens/hugging-face/processors.json', 'utf8')) as {
  readonly classes: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly models: readonly {
    readonly model: string;
    readonly processor: Readonly<Record<string, unknown>>;
    readonly model_type?: string;
    readonly images: readonly Golden[];
  }[];
};

/** `image` of test/goldens/transforms/make.py. */
function generate(width: number, height: number): Pixels {
  const data = new Uint8Array(width * height * 3);
  for (let at = 0, y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < 3; c++) {
        let v = Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca77) ^ Math.imul(c, 0xc2b2ae3d);
        v = Math.imul(v ^ (v >>> 15), 0x2c1b3c6d);
        data[at++] = (v ^ (v >>> 13)) & 0xff;
      }
  return { format: 'RGB', width, height, stride: width * 3, data };
}

for (const { model, processor, model_type, images } of models)
  test(`${model}: the tensor is transformers'`, async () => {
    const steps = imageProcessingOf(processor, model_type ? { model_type } : {});
    const transforms = compileTransforms(parseTransforms(steps));
    for (const { width, height, dims, sha256, sample } of images) {
      const row = await transforms.run(generate(width, height));
      const size = `${width} × ${height}`;
      expect(row.dims, size).toEqual(dims);
      const bytes = Buffer.from(sample, 'base64');
      const expected = Array.from({ length: bytes.length / 4 }, (_, index) => bytes.readFloatLE(index * 4));
      const stride = Math.ceil(row.data.length / 32);
      const found = Array.from(expected, (_, index) => row.data[index * stride]!);
      const [, interpolated] =
        /^(ZoeDepth|Owlv2|DINOv3ViT|RfDetr)/.exec(String(processor['image_processor_type'])) ?? [];
      if (interpolated) {
        // torch's interpolation and scipy's add in orders of their own; the weights of torch's antialias are float32.
        const most = interpolated === 'DINOv3ViT' ? 1e-5 : 1e-6;
        expect(Math.max(...found.map((value, index) => Math.abs(value - expected[index]!))), size).toBeLessThan(most);
        continue;
      }
      expect(found, size).toEqual(expected);
      expect(createHash('sha256').update(new Uint8Array(row.data.buffer)).digest('hex'), size).toBe(sha256);
    }
  });

test("each processor's defaults are those of its class", () => {
  expect(Object.keys(IMAGE_PROCESSORS).sort()).toEqual(Object.keys(classes));
  for (const [name, own] of Object.entries(IMAGE_PROCESSORS)) {
    const {
      resize: _,
      ignores = [],
      max_size: __,
      do_pad: ___,
      ensure_multiple_of: ____,
      pad_size: _____,
      ...defaults
    } = own;
    const { do_resize, do_rescale, rescale_factor, ...given } = classes[name]!;
    expect({ do_resize, do_rescale, rescale_factor }, name).toEqual({
      ...(!ignores.includes('do_resize') && { do_resize: true }),
      do_rescale: true,
      rescale_factor: 1 / 255,
    });
    const missing = { do_center_crop: false, do_normalize: false };
    const ignored = Object.fromEntries(ignores.map((field) => [field, false]));
    expect({ ...missing, ...defaults, ...ignored }, name).toEqual({ ...missing, ...given, ...ignored });
  }
});

test('pad_size that is the size changes nothing, also where numbers are resized', () => {
  const size = { height: 64, width: 48 };
  for (const name of ['RfDetrImageProcessor', 'RTDetrImageProcessor']) {
    const fields = { image_processor_type: name, do_normalize: false, size };
    expect(imageProcessingOf({ ...fields, do_pad: true, pad_size: size }, {}), name).toEqual(
      imageProcessingOf(fields, {}),
    );
  }
});

test('pad_size of a detector of the DETR family pads below and right, after normalize, if each image fits', () => {
  const steps = (side: number, architecture = 'DetrForObjectDetection'): unknown =>
    imageProcessingOf(
      { image_processor_type: 'DetrImageProcessor', do_pad: true, pad_size: { height: side, width: side } },
      { architectures: [architecture] },
    ).slice(-2);
  const padTensor = { size: [1333, 1333], position: 'top-left' };
  expect(steps(1333)).toEqual([{ normalize: expect.anything() }, { padTensor }]);
  expect(() => steps(1332)).toThrow(/pad_size is .* so that each image fits/);
  expect(() => steps(1333, 'DetrForSegmentation')).toThrow(
    /pad_size is .* the size that the image is resized to, because transformers stretches/,
  );
});

test("Donut's images have one size and are not turned, or the field is named", () => {
  for (const field of ['do_resize', 'do_thumbnail', 'do_pad', 'do_align_long_axis'])
    expect(() =>
      imageProcessingOf({ image_processor_type: 'DonutImageProcessor', [field]: field === 'do_align_long_axis' }, {}),
    ).toThrow(new RegExp(`${field} is `));
});

test('a NaFlex model of SigLIP 2 is named, with what to take in its place', () => {
  expect(() => imageProcessingOf({ image_processor_type: 'Siglip2ImageProcessorFast' }, {})).toThrow(
    /"Siglip2ImageProcessorFast"; .* A NaFlex model of SigLIP 2 reads patches .* fixed size, such as siglip2-base-patch16-224/,
  );
});

test('the page names every processor, detector and precision', () => {
  const page = readFileSync('docs/hugging-face.md', 'utf8');
  for (const name of [
    ...Object.keys(IMAGE_PROCESSORS),
    ...Object.keys(TORCHVISION_PROCESSORS),
    ...Object.keys(DETECTORS),
    ...PRECISIONS,
  ])
    expect(page).toMatch(new RegExp(`\\b${name}\\b`));
});
