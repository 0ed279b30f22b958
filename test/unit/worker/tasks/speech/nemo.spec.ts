// Texts and times of whole models are compared with onnx-asr's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { createTestContext } from '../../../../../src/worker.ts';
import { HeardChunks, type Heard } from '../../../../../src/worker/tasks/speech/recognizer.ts';
import { SpeechRecognizer, type SpokenText } from '../../../../../src/worker/tasks/speech/speech-recognizer.ts';
import type { TensorInfo, Tensors } from '../../../../../src/contract/tensors.ts';
import { stubSession } from '../../../support/stub-session.ts';

const CONFIG = { model_type: 'nemo-conformer-tdt', features_size: 80, subsampling_factor: 8 };
const PIECES = ['▁a', 'b', '▁c', '<blk>'];
const BLANK = 3;
const NO_DURATION = [9, 0, 0];

const floats = (dims: readonly number[], data: Iterable<number>) => ({
  dtype: 'float32' as const,
  dims,
  data: Float32Array.from(data),
});
const input = (name: string, dims: TensorInfo['dims'], dtype: TensorInfo['dtype'] = 'float32') => ({
  name,
  dtype,
  dims,
});
const SOUND = [input('audio_signal', [null, 80, null]), input('length', [null], 'int64')];
const JOINT = [
  input('encoder_outputs', [1, 1, 1]),
  input('targets', [1, 1], 'int32'),
  input('target_length', [1], 'int32'),
  input('input_states_1', [1, 1, 1]),
  input('input_states_2', [1, 1, 1]),
];

/** Returns the scores of a class, and of a duration: the likeliest has 9. */
const scores = (id: number, duration: readonly number[] = NO_DURATION) => [
  ...PIECES.map((_, at) => (at === id ? 9 : 0)),
  ...duration,
];

interface Given {
  readonly config?: object;
  readonly files?: Readonly<Record<string, string>>;
  readonly inputs?: readonly TensorInfo[];
  /** Of what the encoder returns. */
  readonly encoded?: readonly number[];
  /** Returns scores for the encoder's frame, the token before it, and the number of tokens so far. */
  readonly decide?: (frame: number, before: number, tokens: number) => readonly number[];
}

/** Opens an encoder whose frames are their own numbers, and a decoder that counts its tokens. */
async function open({ config = {}, files = {}, inputs = SOUND, encoded, decide = () => scores(BLANK) }: Given = {}) {
  const session = stubSession(
    [...inputs],
    [
      { name: 'outputs', dtype: 'float32', dims: [null, 1, null] },
      { name: 'encoded_lengths', dtype: 'int64', dims: [null] },
    ],
    ({ length }) => {
      const frames = Math.ceil(Number(length!.data[0]) / 8);
      return {
        outputs: floats(encoded ?? [1, 1, frames + 1], Array(frames + 1).keys()),
        encoded_lengths: { dtype: 'int64', dims: [1], data: BigInt64Array.of(BigInt(frames)) },
      };
    },
  );
  const joint = ({ encoder_outputs: frame, targets, input_states_1: state }: Tensors): Tensors => ({
    outputs: floats(
      [1, 1, 1, PIECES.length + 3],
      decide(Number(frame!.data[0]), Number(targets!.data[0]), Number(state!.data[0])),
    ),
    output_states_1: floats([1, 1, 1], [Number(state!.data[0]) + 1]),
    output_states_2: floats([1, 1, 1], [0]),
  });
  const given = {
    session,
    nodes: { decoder: { inputs: JOINT, outputs: joint } },
    files: {
      'config.json': JSON.stringify({ ...CONFIG, ...config }),
      'vocab.txt': PIECES.map((piece, id) => `${piece} ${id}\n`).join(''),
      ...files,
    },
  };
  const handler = new SpeechRecognizer();
  await handler.initialize(createTestContext(given));
  return async (samples: number, params: object = { timestamps: 'character' }) =>
    (await handler.handle(
      [{ samples: new Float32Array(samples), sampleRate: 16_000 }],
      createTestContext({ ...given, params: params as never }),
    )) as readonly SpokenText[];
}

const parts = (found: readonly SpokenText[]) =>
  found[0]!.parts!.map(({ text, start, end }) => [text, Math.round(start / 0.08), Math.round(end / 0.08)]);

test('TDT: a duration moves on, and the state changes with a token alone', async () => {
  const seen: (readonly number[])[] = [];
  const decide = (frame: number, before: number, tokens: number) => {
    seen.push([frame, before, tokens]);
    if (frame === 0) return scores(0, [0, 0, 9]);
    return frame === 2 ? scores(BLANK, [0, 0, 9]) : scores(1, [0, 9, 0]);
  };
  const heard = await open({ decide });
  seen.length = 0;
  expect(parts(await heard(5 * 1280))).toEqual([
    [' a', 0, 2],
    ['b', 4, 5],
  ]);
  expect(seen).toEqual([
    [0, BLANK, 0],
    [2, 0, 1],
    [4, 0, 1],
  ]);
});

test('a frame has as many tokens as max_tokens_per_step, and then the next one comes', async () => {
  const decide = (frame: number) => scores(frame === 0 ? 1 : BLANK);
  const of = async (config: object) => parts(await (await open({ decide, config }))(2 * 1280)).length;
  expect(await of({})).toBe(10);
  expect(await of({ max_tokens_per_step: 3 })).toBe(3);
});

test('words begin with pieces that begin with ▁', async () => {
  const decide = (frame: number) => scores([0, 1, 2, BLANK][frame] ?? BLANK, [0, 9, 0]);
  const [found] = await (await open({ decide }))(4 * 1280, { timestamps: 'word' });
  expect(found).toEqual({
    text: 'ab c',
    parts: [
      { text: 'ab', start: 0, end: 0.16 },
      { text: 'c', start: 0.16, end: 0.24 },
    ],
  });
});

test('the blank need not be the last class, and two classes may have the same piece', async () => {
  const files = { 'vocab.txt': 'b 0\r\n<blk> 1\r\n\u2581a 2\r\nb 3\r\n' };
  const decide = (frame: number) => scores([2, 0, 3, 1][frame] ?? 1, [0, 9, 0]);
  expect(await (await open({ decide, files }))(4 * 1280, {})).toEqual([{ text: 'abb' }]);
});

test('silence is an empty text; sound of one frame, and a score that is no number, fail', async () => {
  const heard = await open();
  expect(await heard(16_000)).toEqual([{ text: '', parts: [] }]);
  expect(await heard(16_000, {})).toEqual([{ text: '' }]);
  expect(await heard(319)).toMatchObject([
    { code: 'invalid-input', message: expect.stringContaining('needs at least 320') },
  ]);
  const broken = await open({ decide: (frame) => (frame > 0 ? Array<number>(7).fill(NaN) : scores(BLANK)) });
  await expect(broken(16_000)).rejects.toMatchObject({ code: 'inference-failed' });
  // An encoder that returns no frames would write nothing.
  const flat = await open({ encoded: [1, 14] });
  await expect(flat(16_000)).rejects.toMatchObject({
    code: 'inference-failed',
    message: expect.stringContaining('[1, 14]'),
  });
});

for (const [what, given, message] of [
  ['no blank', { files: { 'vocab.txt': 'a 0\n' } }, 'vocab.txt: <blk> is missing'],
  ['a line without a number', { files: { 'vocab.txt': 'a\n<blk> 1\n' } }, 'vocab.txt: a line is "a"; expected a piece'],
  ['a number that is missing', { files: { 'vocab.txt': 'a 0\nc 2\n<blk> 3\n' } }, 'a line is "<blk> 3"; expected'],
  ['a number twice', { files: { 'vocab.txt': 'a 0\nb 0\n<blk> 2\n' } }, 'each of 0..2 once'],
  ['an empty vocabulary', { files: { 'vocab.txt': '\n' } }, 'vocab.txt: <blk> is missing'],
  ['too many tokens', { config: { max_tokens_per_step: 2 ** 40 } }, 'expected an integer in 1..1000'],
  ['another number of mels', { config: { features_size: 128 } }, '"audio_signal" [rows, 128, frames]'],
  ['no number of mels', { config: { features_size: 'many' } }, 'features_size is "many"'],
  ['samples as input', { inputs: [input('input_values', [null, null])] }, 'gives a model of NeMo the inputs'],
  [
    'no durations',
    { files: { 'vocab.txt': 'a 0\nb 1\nc 2\nd 3\ne 4\nf 5\n<blk> 6\n' } },
    'TDT has the durations after',
  ],
  ['durations', { config: { model_type: 'nemo-conformer-rnnt' } }, 'model_type is not nemo-conformer-rnnt'],
] as const)
  test(`what does not fit is refused: ${what}`, async () => {
    await expect(open(given as Given)).rejects.toMatchObject({
      code: 'model-config',
      message: expect.stringContaining(message),
    });
  });

test('chunks are joined in the longest pause that both have heard', () => {
  const at = (start: number): Heard => ({ id: start, start, end: start + 1 });
  const join = (earlier: readonly number[], later: readonly number[]) => {
    const chunks = new HeardChunks(10);
    // The chunks share the frames 12 to 20, and the middle is 16: 14 to 17 are near it.
    const rest = { isLast: false, samples: new Float32Array(0) };
    chunks.add({ start: 0, end: 200, from: 0, to: 16, ...rest }, earlier.map(at));
    chunks.add(
      { start: 120, end: 320, from: 4, to: 20, ...rest },
      later.map((frame) => at(frame - 12)),
    );
    return chunks.end().map(({ start }) => start);
  };
  // A token at the middle that the later chunk hears a frame earlier.
  expect(join([3, 16], [15, 25])).toEqual([3, 15, 25]);
  expect(join([3, 17], [16, 25])).toEqual([3, 16, 25]);
  // Without a pause, the middle counts.
  expect(join([13, 14, 15, 16, 17, 18], [14, 15, 16, 17, 18])).toEqual([13, 14, 15, 16, 17, 18]);
});
