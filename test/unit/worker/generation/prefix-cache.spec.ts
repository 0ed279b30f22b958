// Who frees what of the caches of earlier rows. The tensors stand for some on a GPU.
import { expect, test } from '@playwright/test';
import type { DType } from '../../../../src/contract/tensors.ts';
import type { DecoderInterface } from '../../../../src/worker/generation/decoder-interface.ts';
import { KeyValueCache } from '../../../../src/worker/generation/key-value-cache.ts';
import { PrefixCache } from '../../../../src/worker/generation/prefix-cache.ts';
import { IDLE_MS, StateBudget } from '../../../../src/worker/host/state-budget.ts';
import { GpuTensor, type GpuMemory } from '../../../../src/worker/tensors/gpu-tensor.ts';
import { FakeClock } from '../../support/fake-clock.ts';

/** A memory that counts the tensors in it. */
class CountingMemory implements GpuMemory {
  readonly live = new Set<GpuTensor>();
  readonly copied: number[][] = [];
  readonly device = {
    pushErrorScope() {},
    popErrorScope: () => Promise.resolve(null),
    createCommandEncoder: () => ({
      copyBufferToBuffer: (_: unknown, from: number, __: unknown, to: number, size: number) =>
        void this.copied.push([from, to, size]),
      finish() {},
    }),
    queue: { submit() {} },
  } as unknown as GPUDevice;

  allocate(dtype: DType, dims: readonly number[]): GpuTensor {
    const tensor = new GpuTensor(dtype, dims, {} as GPUBuffer, this);
    this.live.add(tensor);
    return tensor;
  }

  free(tensor: GpuTensor): void {
    if (!this.live.delete(tensor)) throw new Error('It was freed twice.');
  }

  wait<T>(work: () => Promise<T>): Promise<T> {
    return work();
  }
}

const PAST = { name: 'past.0.key', dtype: 'float32', dims: ['batch', 2, 'past', 4] } as const;
const MODEL = {
  cache: [{ past: PAST, present: 'present.0.key', rowAxis: 0, tokenAxis: 2, isOfEncoder: false }],
} as unknown as DecoderInterface;
/** Bytes of one token: two heads of four float32. */
const TOKEN = 2 * 4 * 4;

function world(maxBytes = 100 * TOKEN, isCausal = true) {
  const memory = new CountingMemory();
  const clock = new FakeClock();
  const prefixes = new PrefixCache(MODEL, new StateBudget(maxBytes, clock).values(), () => Promise.resolve(isCausal));
  const cacheOf = (length: number): KeyValueCache =>
    new KeyValueCache(length, { 'past.0.key': memory.allocate('float32', [1, 2, length, 4]) });
  return { memory, clock, prefixes, cacheOf };
}

const tokens = (...parts: readonly (readonly [count: number, token: number])[]): number[] =>
  parts.flatMap(([count, token]) => Array.from({ length: count }, () => token));

test('a beginning is cut on the GPU, by heads, and is freed by the one who asked for it', async () => {
  const { memory, prefixes, cacheOf } = world();
  prefixes.add(tokens([6, 1], [4, 2]), cacheOf(10));
  const found = (await prefixes.find(tokens([6, 1], [4, 3])))!;
  expect(found.length).toBe(6);
  expect(found.tensors['past.0.key']!.dims).toEqual([1, 2, 6, 4]);
  // Each head's first six tokens of ten.
  expect(memory.copied).toEqual([
    [0, 0, 6 * 16],
    [10 * 16, 6 * 16, 6 * 16],
  ]);
  expect(memory.live.size).toBe(2);
  found.free();
  expect(memory.live.size).toBe(1);
  expect(await prefixes.find(tokens([3, 9]))).toBeUndefined();
});

test('an entry in use outlives its eviction', async () => {
  const { memory, prefixes, cacheOf } = world(12 * TOKEN);
  prefixes.add(tokens([8, 1]), cacheOf(8));
  // All of it, because one token more is left to run.
  const used = (await prefixes.find(tokens([9, 1])))!;
  expect([used.length, memory.copied.length]).toEqual([8, 0]);
  prefixes.add(tokens([8, 2]), cacheOf(8));
  expect(memory.live.size).toBe(2);
  used.free();
  expect(memory.live.size).toBe(1);
});

test('what has no room is freed: the least recently used, one that is too large, beginnings of a longer one', async () => {
  const { memory, prefixes, cacheOf } = world(20 * TOKEN);
  prefixes.add(tokens([8, 1]), cacheOf(8));
  prefixes.add(tokens([8, 2]), cacheOf(8));
  (await prefixes.find(tokens([9, 1])))!.free();
  prefixes.add(tokens([8, 3]), cacheOf(8));
  expect(await prefixes.find(tokens([9, 2]))).toBeUndefined();
  (await prefixes.find(tokens([9, 1])))!.free();
  expect(memory.live.size).toBe(2);
  prefixes.add(tokens([21, 4]), cacheOf(21));
  expect(memory.live.size).toBe(2);
  prefixes.add(tokens([8, 1], [1, 5]), cacheOf(9));
  expect(memory.live.size).toBe(2);
  // Nothing is kept, if nothing may be.
  const none = world(0);
  none.prefixes.add(tokens([1, 1]), none.cacheOf(1));
  expect(none.memory.live.size).toBe(0);
});

test('what nobody has used for five minutes is freed, and no timer is left', async () => {
  const { memory, clock, prefixes, cacheOf } = world();
  prefixes.add(tokens([8, 1]), cacheOf(8));
  await clock.advance(IDLE_MS / 2);
  prefixes.add(tokens([8, 2]), cacheOf(8));
  await clock.advance(IDLE_MS / 2 - 1);
  expect(memory.live.size).toBe(2);
  (await prefixes.find(tokens([9, 2])))!.free();
  await clock.advance(1);
  expect(memory.live.size).toBe(1);
  expect(clock.pending).toBe(1);
  await clock.advance(IDLE_MS);
  expect(memory.live.size).toBe(0);
  expect(clock.pending).toBe(0);
});

test('the last token of a row is left to run, also where an earlier row was the same', async () => {
  const { prefixes, cacheOf } = world();
  const row = tokens([5, 1]);
  prefixes.add(row, cacheOf(5));
  const found = await prefixes.find(row);
  expect(found!.length).toBe(4);
  found!.free();
  expect(await prefixes.find([1])).toBeUndefined();
});

test('a row that begins as an earlier one does not take its place; a row that continues it does', async () => {
  const { memory, prefixes, cacheOf } = world();
  prefixes.add(tokens([8, 1]), cacheOf(8));
  prefixes.add(tokens([3, 1]), cacheOf(3));
  const found = await prefixes.find(tokens([8, 1], [1, 2]));
  expect(found!.length).toBe(8);
  found!.free();
  expect(memory.live.size).toBe(2);
  prefixes.add(tokens([9, 1]), cacheOf(9));
  expect(memory.live.size).toBe(1);
});

test('what has other numbers in another prompt is of no use: all is freed, and nothing is taken over any more', async () => {
  const { memory, prefixes, cacheOf } = world(undefined, false);
  prefixes.add(tokens([8, 1]), cacheOf(8));
  prefixes.add(tokens([8, 2]), cacheOf(8));
  // Nothing was asked yet.
  expect(await prefixes.find(tokens([9, 3]))).toBeUndefined();
  expect(memory.live.size).toBe(2);
  expect(await prefixes.find(tokens([9, 1]))).toBeUndefined();
  expect(memory.live.size).toBe(0);
  prefixes.add(tokens([8, 1]), cacheOf(8));
  expect(memory.live.size).toBe(0);
});
