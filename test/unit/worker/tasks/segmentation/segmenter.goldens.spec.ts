import { expect, test } from '@playwright/test';
import type { Session, Tensor } from '../../../../../src/contract/tensors.ts';
import {
  createTestContext,
  ImageSegmenter,
  type ClassMap,
  type SoftMask,
  type TorchServeMap,
} from '../../../../../src/worker.ts';
import { cases, values, type SegmenterCase, type Stored } from '../../../../goldens/segmenter/read.ts';
import { stubSession } from '../../../support/stub-session.ts';

/** float32 against torch's float64. */
const TOLERANCE = 1e-6;

/** The model's own answer, as ONNX Runtime gave it to Python: what is tested is what the handler makes of it. */
function session({ output, handler }: SegmenterCase): Session {
  const out = { dtype: output.dtype, dims: output.dims, data: values(output) } as Tensor;
  const channelsLast = JSON.stringify(handler['imageProcessing']).includes('NHWC');
  const image = { name: 'image', dtype: 'float32', dims: channelsLast ? [1, 12, 16, 3] : [1, 3, 12, 16] } as const;
  return stubSession([image], [{ name: 'out', dtype: output.dtype, dims: output.dims }], () => ({ out }));
}

for (const golden of cases) {
  test(`${golden.model}, ${golden.transform}, ${golden.image}: as torch`, async () => {
    const { expected, handler, size } = golden;
    const [width, height] = size;
    const options = { session: session(golden), config: { handler } };
    const segmenter = new ImageSegmenter();
    await segmenter.initialize(createTestContext(options));
    const image = { data: new Uint8Array(width * height * 3), dims: [height, width, 3] };
    const ask = async <R>(params: Record<string, unknown>) =>
      (await segmenter.handle([image], createTestContext({ ...options, params })))[0] as unknown as R;

    const map = await ask<ClassMap>({});
    expect(map).toMatchObject({ result: 'classes', width, height });
    expect([...map.classes]).toEqual([...values(expected.classes)]);
    if (expected.scores) expectClose(map.scores!, expected.scores);
    else expect(map.scores).toBeUndefined();

    const mask = await ask<SoftMask>({ result: 'mask' });
    expect(mask).toMatchObject({ result: 'mask', width, height });
    expectClose(mask.mask, expected.mask);

    if (expected.torchserve) {
      const { dtype, dims, data } = await ask<TorchServeMap>({ result: 'torchserve' });
      expect({ dtype, dims }).toEqual({ dtype: 'float32', dims: expected.torchserve.dims });
      expectClose(data, expected.torchserve);
    }
  });
}

function expectClose(got: Float32Array, stored: Stored): void {
  const wanted = values(stored as Stored & { dtype: 'float32' });
  expect(got.length).toBe(wanted.length);
  expect(wanted.reduce((worst, value, index) => Math.max(worst, Math.abs(got[index]! - value)), 0)).toBeLessThanOrEqual(
    TOLERANCE,
  );
}
