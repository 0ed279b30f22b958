import { expect, test } from '@playwright/test';
import type { DType, Session, TensorDataMap, TensorInfo } from '../../../../../src/contract/tensors.ts';
import { axis } from '../../../../../src/worker/outputs/interpolate.ts';
import {
  createTestContext,
  ImageSegmenter,
  PredictionError,
  type ClassMap,
  type Segmentation,
  type SoftMask,
  type TorchServeMap,
} from '../../../../../src/worker.ts';
import { transferablesOf } from '../../../../../src/worker/outputs/transfer.ts';
import { stubSession } from '../../../support/stub-session.ts';

type Dims = TensorInfo['dims'];

/** A model of one output that answers with these numbers, whatever it is fed. */
function model(
  dims: readonly number[],
  values: readonly number[],
  { dtype = 'float32' as DType, declared = dims as Dims, input = [1, 3, 2, 4] as Dims } = {},
): Session {
  const data =
    dtype === 'int64'
      ? BigInt64Array.from(values, BigInt)
      : dtype === 'int32'
        ? Int32Array.from(values)
        : dtype === 'float16'
          ? Uint16Array.from(values)
          : Float32Array.from(values);
  const out = { dtype, dims, data: data as TensorDataMap[DType] };
  return stubSession(
    [{ name: 'image', dtype: 'float32', dims: input }],
    [{ name: 'out', dtype, dims: declared }],
    () => ({ out }),
  );
}

/** An image that is its tensor: 4 wide, 2 high. */
const image = { data: new Uint8Array(4 * 2 * 3), dims: [2, 4, 3] };

/** Answers rows of the image; the rows' type is the caller's claim. */
async function segment<R = ClassMap>(
  session: Session,
  handler: Record<string, unknown> = {},
  params: Record<string, unknown> = {},
  rows: readonly unknown[] = [image],
): Promise<R[]> {
  const segmenter = new ImageSegmenter();
  const config = { handler: { imageProcessing: ['toTensor'], ...handler } };
  await segmenter.initialize(createTestContext({ session, config }));
  return (await segmenter.handle(
    rows as never[],
    createTestContext({ session, config, params, batchSize: rows.length }),
  )) as unknown as R[];
}

/** `count` channels of 4 × 2, in which pixel i is of class i mod count. */
const stripes = (count: number, high = 10) =>
  Array.from({ length: count * 8 }, (_, i) => ((i % 8) % count === Math.floor(i / 8) ? high : 0));
/** The same numbers with the channels last. */
const channelsLast = (values: readonly number[], count: number) =>
  Array.from({ length: values.length }, (_, i) => values[(i % count) * 8 + Math.floor(i / count)]!);

test('logits of several classes: class, softmax score, labels; without labels the indices', async () => {
  const [map] = await segment(model([1, 3, 2, 4], stripes(3)), { labels: ['sky', 'sea', 'sand'] });
  expect(map).toMatchObject({ result: 'classes', width: 4, height: 2, labels: ['sky', 'sea', 'sand'] });
  expect([...map!.classes]).toEqual([0, 1, 2, 0, 1, 2, 0, 1]);
  for (const score of map!.scores!) expect(score).toBeCloseTo(1 / (1 + 2 * Math.exp(-10)), 7);
  expect((await segment(model([1, 3, 2, 4], stripes(3))))[0]!.labels).toEqual(['0', '1', '2']);
});

test('the layout is the input’s, unless only the other one fits the dims; the config overrides it', async () => {
  const stripe = [0, 1, 2, 0, 1, 2, 0, 1];
  const last = model([1, 2, 4, 3], channelsLast(stripes(3), 3));
  expect([...(await segment(last))[0]!.classes]).toEqual(stripe);
  // Four channels of 2 × 2, or two of 2 × 4 … of a 2 × 2 input both [4, 2, 2] and [2, 2, 4] may be meant only if the
  // dims agree.
  const square = { input: [1, 3, 2, 2] as Dims };
  const small = { data: new Uint8Array(2 * 2 * 3), dims: [2, 2, 3] };
  const ambiguous = model([1, 2, 2, 2], [9, 0, 9, 0, 0, 9, 9, 0], square);
  const classes = async (handler: Record<string, unknown>) => [
    ...(await segment(ambiguous, handler, {}, [small]))[0]!.classes,
  ];
  expect(await classes({})).toEqual([0, 1, 0, 0]);
  expect(await classes({ layout: 'NHWC' })).toEqual([0, 0, 1, 0]);
});

test('one channel: sigmoid of logits, probabilities as they are; the threshold by config and by request', async () => {
  const logits = [-2, -1, -0.1, 0, 0.1, 1, 2, 3];
  for (const dims of [
    [1, 1, 2, 4],
    [1, 2, 4, 1],
    [1, 2, 4],
  ]) {
    const [map] = await segment(model(dims, logits));
    expect(map!.labels).toEqual(['background', 'foreground']);
    expect([...map!.classes]).toEqual([0, 0, 0, 0, 1, 1, 1, 1]);
    for (const [i, logit] of logits.entries())
      expect(map!.scores![i]).toBeCloseTo(1 / (1 + Math.exp(-Math.abs(logit))), 6);
  }
  const probabilities = model([1, 1, 2, 4], [0, 0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 1]);
  const count = async (handler: Record<string, unknown>, params = {}) =>
    [...(await segment(probabilities, { output: 'probabilities', ...handler }, params))[0]!.classes].filter(
      (value) => value === 1,
    ).length;
  expect(await count({})).toBe(4);
  expect(await count({ threshold: 0.2 })).toBe(6);
  expect(await count({ threshold: 0.2 }, { threshold: 0.85 })).toBe(2);
  expect(await count({ threshold: 1 })).toBe(0);
});

test('integer classes of every shape and dtype; more than 256 take two bytes', async () => {
  const values = [0, 1, 2, 3, 4, 3, 2, 1];
  for (const dims of [
    [1, 2, 4],
    [1, 1, 2, 4],
    [1, 2, 4, 1],
  ])
    for (const dtype of ['int64', 'int32', 'float32'] as const) {
      const [map] = await segment(model(dims, values, { dtype }), { output: 'classes' });
      expect(map).toEqual({
        result: 'classes',
        width: 4,
        height: 2,
        labels: ['0', '1', '2', '3', '4'],
        classes: Uint8Array.from(values),
      });
    }
  const half = await segment(model([1, 2, 4], [0, 0x3c00, 0x4000, 0, 0, 0, 0, 0], { dtype: 'float16' }), {
    output: 'classes',
    labels: ['a', 'b', 'c', 'd'],
  });
  expect(half[0]).toMatchObject({ labels: ['a', 'b', 'c', 'd'], classes: Uint8Array.of(0, 1, 2, 0, 0, 0, 0, 0) });
  // 255 is the customary mark of a pixel that has no class.
  const [marked] = await segment(model([1, 2, 4], [0, 255, 0, 0, 0, 0, 0, 0], { dtype: 'int64' }), {
    output: 'classes',
    labels: ['a', 'b'],
  });
  expect(marked!.classes).toBeInstanceOf(Uint8Array);
  expect([0, 1, 255].map((index) => marked!.labels[index])).toEqual(['a', 'b', '255']);
  const [wide] = await segment(model([1, 2, 4], [0, 300, 0, 0, 0, 0, 0, 0], { dtype: 'int64' }), { output: 'classes' });
  expect(wide!.classes).toEqual(Uint16Array.of(0, 300, 0, 0, 0, 0, 0, 0));
  for (const bad of [-1, 70_000, 0.5, NaN]) {
    const [failed] = await segment<PredictionError>(model([1, 2, 4], [0, bad, 0, 0, 0, 0, 0, 0]), {
      output: 'classes',
    });
    expect(failed, String(bad)).toMatchObject({ code: 'inference-failed', stage: 'postprocess' });
  }
});

test('a mask: of class 1 of two, or of the class that is named', async () => {
  const three = model([1, 3, 2, 4], stripes(3));
  const labels = ['sky', 'sea', 'sand'];
  const p = 1 / (1 + 2 * Math.exp(-10));
  for (const foreground of [2, 'sand']) {
    const [mask] = await segment<SoftMask>(three, { labels, result: 'mask', foreground });
    expect(mask).toMatchObject({ result: 'mask', width: 4, height: 2, label: 'sand' });
    for (const [i, value] of mask!.mask.entries()) expect(value).toBeCloseTo(i % 3 === 2 ? p : (1 - p) / 2, 6);
  }
  const [sea] = await segment<SoftMask>(three, { labels, result: 'mask', foreground: 'sand' }, { foreground: 'sea' });
  expect(sea!.label).toBe('sea');
  const one = model([1, 1, 2, 4], [0, 0, 0, 0, 5, 5, 5, 5]);
  const [front] = await segment<SoftMask>(one, { result: 'mask' });
  const [back] = await segment<SoftMask>(one, { result: 'mask', foreground: 'background' });
  expect([front!.label, back!.label]).toEqual(['foreground', 'background']);
  for (const [i, value] of front!.mask.entries()) expect(value + back!.mask[i]!).toBeCloseTo(1, 6);
  const [hard] = await segment<SoftMask>(model([1, 2, 4], [0, 1, 2, 3, 4, 3, 2, 1], { dtype: 'int64' }), {
    output: 'classes',
    result: 'mask',
    foreground: 3,
  });
  expect([...hard!.mask]).toEqual([0, 0, 0, 1, 0, 1, 0, 0]);
  // Labels with gaps.
  const some = { 0: 'sky', 2: 'sand' };
  const [sand] = await segment<SoftMask>(three, { labels: some, result: 'mask', foreground: 'sand' });
  expect(sand!.label).toBe('sand');
  const [third] = await segment<SoftMask>(model([1, 2, 4], [0, 1, 2, 3, 2, 3, 2, 1], { dtype: 'int64' }), {
    output: 'classes',
    result: 'mask',
    labels: some,
    foreground: 'sand',
  });
  expect([third!.label, ...third!.mask]).toEqual(['sand', 0, 0, 1, 0, 1, 0, 1, 0]);
});

test('TorchServe’s shape is of the model’s size, and any result may be', async () => {
  const large = { data: new Uint8Array(8 * 4 * 3), dims: [4, 8, 3] };
  const handler = { imageProcessing: [{ resize: [2, 4] }, 'toTensor'] };
  const [pairs] = await segment<TorchServeMap>(
    model([1, 3, 2, 4], stripes(3)),
    { ...handler, result: 'torchserve' },
    {},
    [large],
  );
  expect(pairs).toMatchObject({ dtype: 'float32', dims: [2, 4, 2] });
  expect(pairs!.data.filter((_, i) => i % 2 === 0)).toEqual(Float32Array.of(0, 1, 2, 0, 1, 2, 0, 1));
  const size = async (params: object) =>
    (({ width, height }) => [width, height])(
      (await segment(model([1, 3, 2, 4], stripes(3)), handler, { ...params }, [large]))[0]!,
    );
  expect(await size({})).toEqual([8, 4]);
  expect(await size({ size: 'model' })).toEqual([4, 2]);
});

test('rows have buffers of their own, which are transferred', async () => {
  const rows = await segment(
    model([2, 3, 2, 4], [...stripes(3), ...stripes(3)], { input: ['rows', 3, 2, 4], declared: ['rows', 3, 2, 4] }),
    {},
    {},
    [image, image],
  );
  const buffers = rows.flatMap(({ classes, scores }) => [classes.buffer, scores!.buffer]);
  expect(new Set(buffers).size).toBe(4);
  expect(rows.flatMap((row) => transferablesOf(row))).toEqual(buffers);
  const integers = model([1, 2, 4], [0, 1, 2, 3, 4, 3, 2, 1], { dtype: 'int32' });
  const { out } = await integers.run({});
  const [map] = await segment(integers, { output: 'classes', size: 'model' });
  expect(map!.classes.buffer).not.toBe((out!.data as Int32Array).buffer);
});

test('numbers that are not finite, or no probabilities, fail their row alone', async () => {
  const rows = { input: ['rows', 3, 2, 4] as Dims, declared: ['rows', 1, 2, 4] as Dims };
  for (const [bad, output] of [
    [NaN, 'logits'],
    [Infinity, 'logits'],
    [-Infinity, 'probabilities'],
    [7, 'probabilities'],
    [-1, 'probabilities'],
  ] as const) {
    const session = model([2, 1, 2, 4], [0, bad, 0, 0, 0, 0, 0, 0, ...Array<number>(8).fill(0.9)], rows);
    const [first, second] = await segment<PredictionError | Segmentation>(session, { output }, {}, [image, image]);
    expect(first, `${bad} as ${output}`).toMatchObject({ code: 'inference-failed', stage: 'postprocess' });
    expect(second).toMatchObject({ result: 'classes' });
  }
});

test('an empty map is an error, not a class', async () => {
  for (const dims of [
    [1, 1, 0, 0],
    [1, 0, 2, 4],
    [1, 3, 0, 4],
  ])
    await expect(segment(model(dims, [], { declared: [] })), `${dims}`).rejects.toMatchObject({
      code: 'inference-failed',
      message: expect.stringContaining(`"out" is empty: its dims are [${dims.join(', ')}]`),
    });
});

test('an image that cannot be read keeps its place', async () => {
  const session = model([2, 1, 2, 4], Array<number>(16).fill(1), {
    input: ['rows', 3, 2, 4],
    declared: ['rows', 1, 2, 4],
  });
  const [bad, good] = await segment<PredictionError | ClassMap>(session, {}, {}, [
    { data: new Uint8Array(3), dims: [2, 4, 3] },
    image,
  ]);
  expect(bad).toBeInstanceOf(PredictionError);
  expect(good).toMatchObject({ result: 'classes', classes: new Uint8Array(8).fill(1) });
});

test('a ready tensor is its own image, and a preprocess of one’s own answers in the size of the map', async () => {
  const [map] = await segment(model([1, 3, 2, 4], stripes(3)), {}, {}, [
    { data: new Float32Array(24), dims: [3, 2, 4] },
  ]);
  expect(map).toMatchObject({ width: 4, height: 2 });
  class Own extends ImageSegmenter {
    override preprocess() {
      return Promise.resolve({ image: { dtype: 'float32', dims: [1, 3, 2, 4], data: new Float32Array(24) } as const });
    }
  }
  const context = createTestContext({ session: model([1, 3, 1, 2], [1, 0, 0, 1, 0, 0]) });
  const own = new Own();
  await own.initialize(context);
  expect((await own.handle([image], context))[0]).toMatchObject({ width: 2, height: 1, classes: Uint8Array.of(0, 1) });
});

const three = model([1, 3, 2, 4], stripes(3));
const dynamic = model([1, 3, 2, 4], stripes(3), { declared: [1, 'classes', 'height', 'width'] });
const integers = model([1, 2, 4], Array<number>(8).fill(0), { dtype: 'int64' });

for (const [what, session, handler, message] of [
  ['fewer labels than classes', three, { labels: ['sky', 'sea'] }, /2 labels.*3 classes/],
  ['more labels than classes', three, { labels: ['a', 'b', 'c', 'd'] }, /4 labels.*3 classes/],
  [
    'one label for one channel',
    model([1, 1, 2, 4], Array<number>(8).fill(0)),
    { labels: ['person'] },
    /1 labels.*one channel.*background/,
  ],
  ['an output that is not there', three, { outputName: 'aux' }, /outputName.*"aux".*"out"/],
  ['an output that is no map', model([1, 1000], Array<number>(1000).fill(0)), {}, /outputName.*\[1, 1000\]/],
  ['integers as logits', integers, {}, /handler\.output.*int64/],
  ['logits as classes', three, { output: 'classes' }, /handler\.output.*3/],
  ['an unknown output', three, { output: 'argmax' }, /handler\.output.*"logits".*"probabilities".*"classes"/],
  ['a threshold over 1', three, { threshold: 1.5 }, /handler\.threshold.*0\.\.1.*1\.5/],
  ['a threshold below 0', three, { threshold: -0.1 }, /handler\.threshold.*0\.\.1.*-0\.1/],
  ['a threshold for several channels', three, { threshold: 0.5 }, /threshold.*one channel/],
  ['a mask of three classes', three, { result: 'mask' }, /foreground.*label or index/],
  [
    'a mask of a class that is not there',
    three,
    { result: 'mask', labels: ['a', 'b', 'c'], foreground: 'person' },
    /foreground.*"person".*a, b, c/,
  ],
  ['a mask of an index that is not there', three, { result: 'mask', foreground: 3 }, /foreground.*3.*0, 1, 2/],
  ['a negative index', three, { result: 'mask', foreground: -1 }, /handler\.foreground/],
  ['TorchServe’s shape without scores', integers, { output: 'classes', result: 'torchserve' }, /result.*torchserve/],
  ['an unknown layout', three, { layout: 'CHW' }, /handler\.layout.*"NCHW" or "NHWC"/],
] as const) {
  test(`initialize refuses: ${what}`, async () => {
    await expect(segment(session, handler)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringMatching(message),
    });
  });
}

test('outputs that the model does not declare are checked at the request', async () => {
  for (const session of [dynamic, model([1, 3, 2, 4], stripes(3), { declared: [] })]) {
    const [failed] = await segment<PredictionError>(session, { labels: ['sky', 'sea'] });
    expect(failed).toMatchObject({ code: 'model-config', message: expect.stringMatching(/2 labels.*3 classes/) });
    expect(await segment(session, { labels: ['sky', 'sea', 'sand'] })).toMatchObject([{ result: 'classes', width: 4 }]);
  }
});

test('every pixel of a letterboxed image samples the image alone, however thin it is and coarse the map', () => {
  for (const size of [1, 2, 7, 100, 1000])
    for (const scaled of [1, 2, 9, 16])
      for (const mapSize of [1, 2, 4, 16, 33]) {
        const offset = Math.floor((16 - scaled) / 2);
        const { from, to, weight, first, end } = axis(
          size,
          mapSize,
          ((scaled / size) * mapSize) / 16,
          (offset * mapSize) / 16,
        );
        expect([first, end]).toEqual([0, size]);
        expect(from.every((at, i) => at >= Math.floor((offset * mapSize) / 16) && at <= to[i]!)).toBe(true);
        expect(to.every((at) => at < Math.ceil(((offset + scaled) * mapSize) / 16))).toBe(true);
        expect(weight.every((part) => part >= 0 && part < 1)).toBe(true);
      }
});

test('params: an invalid value fails the request, and a read-only key is refused', async () => {
  expect((await segment<PredictionError>(three, {}, { result: 'mask' }))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/foreground/),
  });
  expect((await segment<PredictionError>(three, {}, { threshold: 0.2 }))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/threshold.*one channel/),
  });
  expect((await segment<PredictionError>(integers, { output: 'classes' }, { result: 'torchserve' }))[0]).toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/result.*torchserve/),
  });
  await expect(segment(three, {}, { threshold: 2 })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/params\.threshold/),
  });
  await expect(segment(three, {}, { output: 'probabilities' })).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/params\.output/),
  });
});
