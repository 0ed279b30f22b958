/** Both kernels against torchvision on Pillow, bit for bit. `test/goldens/transforms/make.py` makes the goldens. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { DecodedImage, PixelFormat, Pixels } from '../../../../src/contract/images.js';
import { createJsResampleKernel } from '../../../../src/worker/transforms/resample-kernel-js.js';
import { createWasmResampleKernel } from '../../../../src/worker/transforms/resample-kernel.js';
import { parseTransforms } from '../../../../src/worker/transforms/parse.js';
import { compileTransformsWith } from '../../../../src/worker/transforms/compile.js';

interface Golden {
  readonly width: number;
  readonly height: number;
  readonly transforms: unknown;
  readonly pattern?: 'noise' | 'extremes';
  readonly mode?: 'L';
  readonly dims: readonly number[];
  readonly sha256: string;
  readonly sample: string;
}

const { cases } = JSON.parse(readFileSync('test/goldens/transforms/goldens.json', 'utf8')) as {
  readonly cases: readonly Golden[];
};

/** `image` of make.py, in any format, with rows that are longer than they need be. */
function generate({ width, height, pattern, mode }: Golden, format: PixelFormat): Pixels {
  const step = { L: 1, RGB: 3, BGR: 3, RGBX: 4, BGRX: 4 }[format];
  const isReversed = format.startsWith('BGR');
  const stride = width * step + 5;
  const data = new Uint8Array(stride * height).fill(201);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let c = 0; c < Math.min(step, 3); c++) {
        let v = Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca77) ^ (mode === 'L' ? 0 : Math.imul(c, 0xc2b2ae3d));
        v = Math.imul(v ^ (v >>> 15), 0x2c1b3c6d);
        v = (v ^ (v >>> 13)) & 0xff;
        data[y * stride + x * step + (isReversed ? 2 - c : c)] = pattern !== 'extremes' ? v : v > 127 ? 255 : 0;
      }
  return { format, width, height, stride, data };
}

/** A decoder that uses the same buffer again and again, and only what is asked for. */
function decoded({ format, width, height, stride, data }: Pixels): DecodedImage & { pixels: number } {
  const step = { L: 1, RGB: 3, BGR: 3, RGBX: 4, BGRX: 4 }[format];
  const image = {
    width,
    height,
    pixels: 0,
    async read(rect = { x: 0, y: 0, width, height }) {
      if (
        rect.x < 0 ||
        rect.y < 0 ||
        rect.x + rect.width > width ||
        rect.y + rect.height > height ||
        rect.width < 1 ||
        rect.height < 1
      )
        throw new Error(`read(${JSON.stringify(rect)})`);
      image.pixels += rect.width * rect.height;
      const from = rect.y * stride + rect.x * step;
      return {
        format,
        width: rect.width,
        height: rect.height,
        stride,
        data: data.slice(from, from + (rect.height - 1) * stride + rect.width * step),
      };
    },
    close() {},
  };
  return image;
}

const KERNELS = [createWasmResampleKernel, createJsResampleKernel];

for (const golden of cases) {
  const { width, height, mode } = golden;
  const isLarge = width * height > 1e6;
  test(`${golden.mode ?? 'RGB'} ${width}×${height} ${JSON.stringify(golden.transforms)}`, async () => {
    const plans = KERNELS.map((create) => {
      const kernel = create()!;
      return [create.name, compileTransformsWith(() => kernel, parseTransforms(golden.transforms))] as const;
    });
    // The sample says by how much, the hash whether.
    const sample = new Float32Array(new Uint8Array(Buffer.from(golden.sample, 'base64')).buffer);
    for (const format of mode === 'L'
      ? (['L'] as const)
      : isLarge
        ? (['BGRX'] as const)
        : (['RGB', 'BGR', 'RGBX', 'BGRX'] as const)) {
      const pixels = generate(golden, format);
      for (const [name, plan] of plans) {
        const { data, dims } = await plan.run(decoded(pixels));
        const every = Math.ceil(data.length / 32);
        expect(
          {
            planned: plan.outputDims(width, height),
            dims,
            sample: Float32Array.from({ length: Math.ceil(data.length / every) }, (_, i) => data[i * every]!),
            sha256: createHash('sha256').update(new Uint8Array(data.buffer)).digest('hex'),
          },
          `${name}, ${format}`,
        ).toEqual({ planned: golden.dims, dims: golden.dims, sample, sha256: golden.sha256 });
      }
    }
  });
}
