// When rows join and leave, and who frees what, over a stand-in for a model. It keeps the tokens themselves as its
// cache, and its logits follow from all tokens that the mask counts: a row that is padded or mixed up wrongly has other
// ones. Real models run in `shared-steps-models.spec.ts`.
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../src/contract/errors.ts';
import type { DType, Session, Tensor, TensorInfo, Tensors } from '../../../../src/contract/tensors.ts';
import { Decoder } from '../../../../src/worker/generation/decoder.ts';
import { readInterface } from '../../../../src/worker/generation/decoder-interface.ts';
import { SharedSteps, type SharedRow } from '../../../../src/worker/generation/shared-steps.ts';

const SIZE = 101;
const info = (name: string, dims: TensorInfo['dims'], dtype: DType = 'int64'): TensorInfo => ({ name, dtype, dims });
const PAST = info('past.0.key', ['batch', 1, 'past', 1], 'float32');
const INPUTS = [info('input_ids', ['batch', 'tokens']), info('attention_mask', ['batch', 'total']), PAST];

interface Run {
  /** Rows, and tokens of each. */
  readonly dims: readonly number[];
  readonly past: Tensor;
  readonly present: Tensor;
  /** Ends the run, if runs are held. */
  readonly end: () => void;
}

class FakeModel implements Session {
  readonly inputs = INPUTS;
  readonly outputs = [info('logits', ['batch', 'tokens', SIZE], 'float32'), { ...PAST, name: 'present.0.key' }];
  readonly runs: Run[] = [];
  /** Whether a run waits for its `end`. */
  isHeld = false;
  /** A run after this many tokens fails. */
  failsAfter = -1;

  /**
   * @param reads which tokens count: those that the mask says, with new ones at the cache's end; as many as it counts,
   *   with new ones behind them, as GroupQueryAttention does; or all
   * @param limit from this many tokens of the longest row on, it computes all rows differently
   */
  constructor(
    private readonly reads: 'mask' | 'count' | 'all' = 'mask',
    private readonly limit = Infinity,
  ) {}

  async run(feeds: Tensors): Promise<Tensors> {
    const { dims, data: ids } = feeds['input_ids'] as Tensor<'int64'>;
    const past = feeds['past.0.key'] as Tensor<'float32'>;
    const mask = feeds['attention_mask'] as Tensor<'int64'>;
    const [rows, tokens] = dims as [number, number];
    const before = past.dims[2]!;
    if (before === this.failsAfter) throw new Error('failed');
    const total = before + tokens;
    const maskOf = (row: number): readonly bigint[] => [...mask.data.subarray(row * total, (row + 1) * total)];
    const countOf = (row: number): number => maskOf(row).filter((one) => one === 1n).length;
    const kept = Array.from({ length: rows }, (_, row) => {
      const [own, fresh] = [past.data.subarray(row * before, (row + 1) * before), ids.subarray(row * tokens)];
      const values = [...own, ...Array.from({ length: tokens }, () => 0)];
      const start = this.reads === 'count' ? countOf(row) - tokens : before;
      for (let at = 0; at < tokens; at++) values[start + at] = Number(fresh[at]);
      return values;
    });
    const logits = new Float32Array(rows * tokens * SIZE);
    for (const [row, own] of kept.entries()) {
      const [ones, count] = [maskOf(row), countOf(row)];
      const counted = own.filter((_, at) =>
        this.reads === 'mask' ? ones[at] === 1n : this.reads === 'all' || at < count,
      );
      const next = follow(counted, total > this.limit ? 2 : 1);
      logits[((row + 1) * tokens - 1) * SIZE + next] = 1;
    }
    const present: Tensor = { dtype: 'float32', dims: [rows, 1, total, 1], data: Float32Array.from(kept.flat()) };
    const ended = new Promise<void>((end) => this.runs.push({ dims, past, present, end }));
    if (this.isHeld) await ended;
    return { logits: { dtype: 'float32', dims: [rows, tokens, SIZE], data: logits }, 'present.0.key': present };
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

/**
 * The rows of a run ask for the next one in the task after it. A timer may fire before that on a busy machine; tasks keep
 * their order.
 */
function afterTwoTasks(run: () => void): () => void {
  let task = setImmediate(() => (task = setImmediate(run)));
  return () => clearImmediate(task);
}

const signal = new AbortController().signal;
const next = (logits: Float32Array): number => logits.indexOf(1);

function world(...kind: ConstructorParameters<typeof FakeModel>) {
  const model = new FakeModel(...kind);
  const decoder = new Decoder(model, readInterface(model, 'text_generator'));
  const steps = new SharedSteps(decoder, afterTwoTasks);
  /** Runs the prompt of a row. */
  const begin = async (prompt: readonly number[]): Promise<{ row: SharedRow; tokens: number[] }> => {
    const row = steps.row(decoder.emptyCache());
    return { row, tokens: [...prompt, next(await row.run(prompt, signal))] };
  };
  const grow = async ({ row, tokens }: Awaited<ReturnType<typeof begin>>, count: number): Promise<void> => {
    for (let at = 0; at < count; at++) tokens.push(next(await row.run(tokens, signal)));
  };
  return { model, begin, grow, rows: () => model.runs.splice(0).map(({ dims }) => dims[0]) };
}

/** Returns the token that follows. */
function follow(tokens: readonly number[], factor = 1): number {
  return tokens.reduce((sum, token, at) => sum + (at + 1) * (token + factor), 0) % SIZE;
}

/** What the model says to a prompt, when nothing runs beside it. */
function answer(prompt: readonly number[], count: number, limit = Infinity): number[] {
  const tokens = [...prompt];
  for (let at = 0; at < count; at++) tokens.push(follow(tokens, tokens.length > limit ? 2 : 1));
  return tokens;
}

test('rows of different lengths share their runs, and each has the answer that it has alone', async () => {
  const { begin, grow, rows } = world();
  const all = await Promise.all([[1, 2, 3], [4], [5, 6, 7, 8, 9]].map(begin));
  rows();
  await Promise.all(all.map((one, index) => grow(one, 4 + index)));
  for (const [index, { tokens }] of all.entries())
    expect(tokens).toEqual(answer([[1, 2, 3], [4], [5, 6, 7, 8, 9]][index]!, 5 + index));
  // The row that asks first runs at once, the others join it. Their first run together is compared with those of each
  // row alone. Where rows have ended, the others go on.
  expect(rows()).toEqual([1, 3, 1, 1, 1, 3, 3, 2, 2, 1]);
});

test('the cache is made anew only when a row joins or leaves', async () => {
  const { model, begin, grow } = world();
  const [one, two] = await Promise.all([begin([1, 2]), begin([3])]);
  await Promise.all([grow(one!, 3), grow(two!, 3)]);
  model.runs.length = 0;
  await Promise.all([grow(one!, 3), grow(two!, 3)]);
  const third = await begin([9]);
  await Promise.all([grow(one!, 2), grow(two!, 2), grow(third, 1)]);
  const isKept = model.runs.map(({ past }) => model.runs.some(({ present }) => present === past));
  expect(model.runs.map(({ dims }) => dims)).toEqual([
    [2, 1],
    [2, 1],
    [2, 1],
    [1, 1],
    [2, 1],
    [3, 1],
  ]);
  expect(isKept).toEqual([false, true, true, false, true, false]);
});

test('a row joins while another one runs, without waiting for its end; a prompt runs alone between two steps', async () => {
  const { model, begin, grow } = world();
  const one = await begin([1, 2]);
  const two = await begin([3]);
  await Promise.all([grow(one, 1), grow(two, 1)]);
  model.runs.length = 0;
  model.isHeld = true;
  const growing = grow(one, 5);
  // It asks while the first one runs.
  const joining = grow(two, 3);
  const late = begin([7, 8, 9]);
  const seen: (readonly number[])[] = [];
  model.isHeld = false;
  for (const { end } of model.runs) end();
  await Promise.all([growing, joining, late]);
  for (const { dims } of model.runs) seen.push(dims);
  expect(seen.slice(0, 3)).toEqual(
    expect.arrayContaining([
      [1, 3],
      [2, 1],
    ]),
  );
  expect(seen.filter(([rows]) => rows === 2)).toHaveLength(3);
  expect(one.tokens).toEqual(answer([1, 2], 7));
  expect(two.tokens).toEqual(answer([3], 5));
  expect((await late).tokens).toEqual(answer([7, 8, 9], 1));
});

test('a row whose reader is slow holds up nobody, and joins again', async () => {
  const { begin, grow, rows } = world();
  const [quick, slow] = await Promise.all([begin([1, 2]), begin([3])]);
  await Promise.all([grow(quick!, 2), grow(slow!, 2)]);
  rows();
  await grow(quick!, 3);
  expect(rows()).toEqual([1, 1, 1]);
  await Promise.all([grow(quick!, 2), grow(slow!, 1)]);
  expect(rows()).toEqual([1, 2]);
  expect(quick!.tokens).toEqual(answer([1, 2], 8));
  expect(slow!.tokens).toEqual(answer([3], 4));
});

test('a model that counts the tokens of each row in the mask shares its runs, too: padded on the right', async () => {
  const { begin, grow, rows } = world('count');
  const prompts = [[1, 2, 3], [4], [5, 6, 7, 8, 9]];
  const all = await Promise.all(prompts.map(begin));
  rows();
  await Promise.all(all.map((one, index) => grow(one, 4 + index)));
  for (const [index, { tokens }] of all.entries()) expect(tokens).toEqual(answer(prompts[index]!, 5 + index));
  // As above, and a second comparison behind the first, which found padding on the left to be wrong.
  expect(rows()).toEqual([1, 3, 1, 1, 1, 3, 1, 1, 1, 3, 2, 2, 1]);
  const late = await begin([8, 8]);
  await Promise.all([grow(late, 3), grow(all[2]!, 3)]);
  expect(late.tokens).toEqual(answer([8, 8], 4));
  expect(all[2]!.tokens).toEqual(answer(prompts[2]!, 10));
  const cache = await late.row.end();
  expect([...(cache.tensors['past.0.key']!.data as Float32Array)]).toEqual(answer([8, 8], 4).slice(0, -1));
});

test('a model that does not look at the mask shares no run of rows that are padded, and is never wrong', async () => {
  const { begin, grow, rows } = world('all');
  const all = await Promise.all([[1, 2, 3], [4]].map(begin));
  rows();
  await Promise.all(all.map((one) => grow(one, 4)));
  expect(all.map(({ tokens }) => tokens)).toEqual([answer([1, 2, 3], 5), answer([4], 5)]);
  expect(rows()).toEqual([1, 2, 1, 1, 2, 1, 1, 1, 1, 1]);
});

test('a model whose numbers depend on the longest row shares runs only while they do not', async () => {
  const { begin, grow, rows } = world('mask', 128);
  const prompts = [[1, 2, 3], [4]];
  const all = await Promise.all(prompts.map(begin));
  await Promise.all(all.map((one) => grow(one, 140)));
  for (const [index, { tokens }] of all.entries()) expect(tokens).toEqual(answer(prompts[index]!, 141, 128));
  const seen = rows();
  expect(seen.filter((count) => count === 2).length).toBeGreaterThan(120);
  expect(seen.slice(-20)).toEqual(Array.from({ length: 20 }, () => 1));
});

test('of rows that take turns, one that fails leaves the others their answers', async () => {
  const { model, begin, grow } = world('all');
  const [one, other] = [await begin([1, 2, 3]), await begin([4, 5])];
  await Promise.all([grow(one, 2), grow(other, 2)]);
  // The shorter one has run on four tokens.
  model.failsAfter = other.row.length;
  const [first, second] = await Promise.allSettled([grow(one, 1), grow(other, 1)]);
  expect([first.status, second.status]).toEqual(['fulfilled', 'rejected']);
  expect(one.tokens).toEqual(answer([1, 2, 3], 4));
});

test('a model that cannot run two rows at once answers both, in turns from then on', async () => {
  const { model, begin, grow, rows } = world();
  const { run } = model;
  // A reshape with a batch of 1 inside.
  model.run = (feeds) =>
    feeds['input_ids']!.dims[0]! > 1 ? Promise.reject(new Error('Reshape')) : run.call(model, feeds);
  const prompts = [[1, 2, 3], [4]];
  const all = await Promise.all(prompts.map(begin));
  rows();
  await Promise.all(all.map((one) => grow(one, 4)));
  for (const [index, { tokens }] of all.entries()) expect(tokens).toEqual(answer(prompts[index]!, 5));
  expect(rows()).toEqual(Array.from({ length: 8 }, () => 1));
});

for (const code of ['aborted', 'device-lost', 'out-of-memory'] as const)
  test(`a shared run that ends with ${code} is not run again`, async () => {
    const { model, begin, grow } = world();
    const all = await Promise.all([[1, 2], [3]].map(begin));
    await Promise.all(all.map((one) => grow(one, 2)));
    const { run } = model;
    let runs = 0;
    model.run = () => (runs++, Promise.reject(new TabServeError(code, 'It ended.')));
    await Promise.allSettled(all.map((one) => grow(one, 1)));
    expect(runs).toBe(1);
    model.run = run;
    await Promise.all(all.map((one) => grow(one, 1)));
    expect(all.map(({ tokens }) => tokens)).toEqual([answer([1, 2], 4), answer([3], 4)]);
  });

test('a failed run fails the rows in it, and no later one; an ended row leaves its cache', async () => {
  const { model, begin, grow } = world();
  const [one, two] = await Promise.all([begin([1, 2]), begin([3])]);
  await Promise.all([grow(one!, 2), grow(two!, 2)]);
  const { run } = model;
  model.run = () => Promise.reject(new Error('No room.'));
  const failed = await Promise.allSettled([grow(one!, 1), grow(two!, 1)]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  model.run = run;
  await Promise.all([grow(one!, 1), grow(two!, 1)]);
  expect([one!.tokens, two!.tokens]).toEqual([answer([1, 2], 4), answer([3], 4)]);
  const cache = await two!.row.end();
  // Its own tokens without the padding, and without the last one, which has not run.
  expect(cache.length).toBe(4);
  expect([...(cache.tensors['past.0.key']!.data as Float32Array)]).toEqual(answer([3], 3));
});
