import { expect, test } from '@playwright/test';
import type { DType, Session, TensorDataMap, TensorInfo } from '../../src/contract.ts';
import { createContext, ImageSegmenter, type ClassMap, type ContextOptions, type Segmentation } from '../../src/worker.ts';

type Dims = readonly (number | string)[];

/** A model of one output that answers with these numbers, whatever it is fed. */
function model(dims: readonly number[], values: readonly number[], { dtype = 'float32' as DType, declared = dims as Dims, input = [1, 3, 4, 4] as Dims } = {}): Session {
  const data = dtype === 'int64' ? BigInt64Array.from(values, BigInt) : dtype === 'int32' ? Int32Array.from(values) : Float32Array.from(values);
  return {
    inputs: [{ name: 'image', dtype: 'float32', dims: input }],
    outputs: [{ name: 'out', dtype, dims: declared } satisfies TensorInfo],
    run: () => Promise.resolve({ out: { dtype, dims, data: data as TensorDataMap[DType] } }),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

/** A 4 × 4 image, which is the tensor. */
const image = (width = 4, height = 4) => ({ data: new Uint8Array(width * height * 3), dims: [height, width, 3] });

async function segment<R extends Segmentation = ClassMap>(session: Session, handler: Record<string, unknown>, rows: unknown[] = [image()], options: Partial<ContextOptions> = {}) {
  const segmenter = new ImageSegmenter();
  const config = { handler: { imageProcessing: ['toTensor'], ...handler } };
  await segmenter.initialize(createContext({ session, config }));
  return (await segmenter.handle(rows as never[], createContext({ session, config, batchSize: rows.length, ...options }))) as unknown as R[];
}

test('two logits a pixel', async () => {
  const [map] = await segment(model([1, 2, 4, 4], [...Array(16).fill(0), ...Array.from({ length: 16 }, (_, i) => i - 8)]), {});
  expect(map!.labels).toEqual(['background', 'foreground']);
});
