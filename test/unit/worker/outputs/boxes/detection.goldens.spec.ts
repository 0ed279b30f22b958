/**
 * Every format against the float64 decoders of `test/goldens/detection/make.py`: the heads of each, and an image
 * stretched, letterboxed or cropped.
 */
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import type { Session, Tensor } from '../../../../../src/contract/tensors.ts';
import { createTestContext, ObjectDetector, type Detections } from '../../../../../src/worker.ts';
import { stubSession } from '../../../support/stub-session.ts';

interface Golden {
  readonly name: string;
  readonly decoder: Readonly<Record<string, unknown>>;
  readonly image: readonly [number, number];
  readonly outputs: Readonly<Record<string, { dtype: 'float32' | 'int64'; dims: number[]; data: string }>>;
  readonly runs: readonly {
    readonly params: Readonly<Record<string, number>>;
    readonly expected: Readonly<Record<string, readonly (readonly number[])[]>>;
  }[];
}

const goldens = JSON.parse(readFileSync('test/goldens/detection/goldens.json', 'utf8')) as {
  readonly labels: readonly string[];
  readonly size: readonly [number, number];
  readonly ways: Readonly<Record<string, unknown[]>>;
  readonly anchors: unknown;
  readonly heads: readonly Golden[];
};

/** Of the value, or of a pixel. */
const TOLERANCE = 1e-4;

function read({ dtype, dims, data }: Golden['outputs'][string]): Tensor {
  const bytes = new Uint8Array(Buffer.from(data, 'base64')).buffer;
  return dtype === 'int64'
    ? { dtype, dims, data: new BigInt64Array(bytes) }
    : { dtype, dims, data: new Float32Array(bytes) };
}

function session(outputs: Golden['outputs']): Session {
  const tensors = Object.fromEntries(Object.entries(outputs).map(([name, tensor]) => [name, read(tensor)]));
  return stubSession(
    [{ name: 'image', dtype: 'float32', dims: [1, 3, goldens.size[1], goldens.size[0]] }],
    Object.entries(tensors).map(([name, { dtype, dims }]) => ({ name, dtype, dims })),
    () => tensors,
  );
}

/** Labels by class, where the background has none. */
function labelsOf({ decoder, name }: Golden): Record<string, string> | undefined {
  if (name.includes('one class') || name.includes('BlazeFace')) return undefined;
  const first = 'ssd' in decoder && !name.includes('file') ? 1 : 0;
  return Object.fromEntries(goldens.labels.map((label, index) => [index + first, label]));
}

for (const golden of goldens.heads) {
  test(golden.name, async () => {
    const labels = labelsOf(golden);
    const [width, height] = golden.image;
    for (const [way, expected, params] of golden.runs.flatMap((run) =>
      Object.entries(run.expected).map(([way, expected]) => [way, expected, run.params] as const),
    )) {
      const options = {
        session: session(golden.outputs),
        config: {
          handler: {
            imageProcessing: [...goldens.ways[way]!, 'toTensor'],
            decoder: golden.decoder,
            ...(labels && { labels }),
          },
        },
        files: { 'anchors.json': JSON.stringify(goldens.anchors) },
        params,
      };
      const handler = new ObjectDetector();
      await handler.initialize(createTestContext(options));
      const [found] = (await handler.handle(
        [{ data: new Uint8Array(width * height * 3), dims: [height, width, 3] }],
        createTestContext(options),
      )) as [Detections];
      expect(found, way).toBeInstanceOf(Array);
      expect(
        found.map(({ label }) => label),
        way,
      ).toEqual(expected.map(([index]) => labels?.[index!] ?? String(index)));
      const wrong = found.flatMap(({ score, box }, index) =>
        [score, box.xmin, box.ymin, box.xmax, box.ymax].flatMap((value, i) => {
          const wanted = expected[index]![i + 1]!;
          const isClose = Math.abs(value - wanted) <= TOLERANCE * Math.max(1, Math.abs(wanted));
          return isClose ? [] : `object ${index}: ${value} for ${wanted}`;
        }),
      );
      expect(wrong, way).toEqual([]);
    }
  });
}
