// The turns are compared with Python's in `test/browser/coverage.spec.ts`.
import { expect, test } from '@playwright/test';
import { TabServeError } from '../../../../../src/contract/errors.ts';
import type { Params } from '../../../../../src/contract/handler.ts';
import { createTestHandler } from '../../../../../src/worker.ts';
import { halfEven } from '../../../../../src/worker/tasks/speakers/half-even.ts';
import { centroidLinkage, clustersOf } from '../../../../../src/worker/tasks/speakers/linkage.ts';
import { matchWindows } from '../../../../../src/worker/tasks/speakers/match-windows.ts';
import { classSpeakers, readWindow, voiceOf } from '../../../../../src/worker/tasks/speakers/segmentation.ts';
import { SpeakerDiarizer } from '../../../../../src/worker/tasks/speakers/speaker-diarizer.ts';
import { turnsOf } from '../../../../../src/worker/tasks/speakers/turns.ts';
import { speakersOf } from '../../../../../src/worker/tasks/speakers/voices.ts';

/** Windows of four frames of a second, one each two seconds. */
const FRAMES = { sampleRate: 10, window: 40, windowStep: 20, step: 10, offset: 0, count: 4 };

/** A window by the speakers of its frames. */
function windowOf(...frames: readonly (readonly number[])[]) {
  const active = Uint8Array.from(frames.flatMap((members) => [0, 1].map((one) => Number(members.includes(one)))));
  return { active, probabilities: Float32Array.from(active, (one) => (one === 1 ? 0.9 : 0.1)) };
}

test("centroid linkage is scipy's, also where a later distance is smaller", async () => {
  // linkage([[0, 0], [1, 0], [0.5, 0.9], [5, 5], [5, 6]], 'centroid'): the third distance is below the second.
  const merges = await centroidLinkage(
    [
      [0, 0],
      [1, 0],
      [0.5, 0.9],
      [5, 5],
      [5, 6],
    ],
    async () => {},
  );
  expect(merges.map(({ left, right, size }) => [Math.min(left, right), Math.max(left, right), size])).toEqual([
    [0, 1, 2],
    [2, 5, 3],
    [3, 4, 2],
    [6, 7, 5],
  ]);
  const distances = [1, 0.9, 1, Math.hypot(4.5, 5.2)];
  expect(merges.map(({ distance }) => distance)).toEqual(distances.map((one): unknown => expect.closeTo(one, 5)));
  // fcluster(…, 0.95, 'distance') makes no cluster of what contains a larger distance.
  expect(new Set(clustersOf(merges, (_, distance) => distance <= 0.95)).size).toBe(5);
  const clusters = clustersOf(merges, (_, distance) => distance <= 1);
  expect(clusters.map((one) => clusters.indexOf(one))).toEqual([0, 0, 0, 3, 3]);
});

test('speakers: by the threshold, as many as wanted, and small groups go to similar ones', async () => {
  const near = (x: number, y: number, count: number) =>
    Array.from({ length: count }, (_, at) => Float32Array.of(x + at / 100, y));
  const vectors = [...near(1, 0, 10), ...near(0, 1, 10), ...near(0.6, 0.8, 1)];
  const rules = { threshold: 0.5, least: 1, most: Infinity };
  const ask = async (own: readonly Float32Array[], changes: object = {}) =>
    await speakersOf(own, { ...rules, ...changes }, async () => {});
  const people = await ask(vectors);
  expect(new Set(people.slice(0, 10)).size).toBe(1);
  // Of 21 vectors, a group of one is too small: it goes to the second one.
  expect(people[20]).toBe(people[10]);
  expect(new Set(people).size).toBe(2);
  expect(new Set(await ask(vectors, { threshold: 2 })).size).toBe(1);
  expect(new Set(await ask(vectors, { threshold: 2, least: 2 })).size).toBe(2);
  expect(new Set(await ask(vectors, { most: 1 })).size).toBe(1);
  expect(await ask(vectors.slice(0, 1))).toEqual([0]);
});

test('vectors give the merges of the nearest centroids, found one by one', async () => {
  // Numbers of a congruential generator, around four points.
  let seed = 1;
  const next = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const vectors = Array.from({ length: 250 }, (_, at) => [(at % 4) * 2 + next(), ((at % 4) % 2) * 3 + next(), next()]);
  const merges = await centroidLinkage(vectors, async () => {});
  let clusters = vectors.map((centroid, node) => ({ node, centroid, size: 1 }));
  for (const [step, { left, right, distance, size }] of merges.entries()) {
    const [one, other] = [left, right].map((node) => clusters.find((cluster) => cluster.node === node)!);
    const between = (a: readonly number[], b: readonly number[]) => Math.hypot(...a.map((value, at) => value - b[at]!));
    const least = Math.min(
      ...clusters.flatMap((a, at) => clusters.slice(at + 1).map((b) => between(a.centroid, b.centroid))),
    );
    expect(distance).toBeCloseTo(least, 5);
    expect(between(one!.centroid, other!.centroid)).toBeCloseTo(distance, 5);
    const centroid = one!.centroid.map((value, at) => (value * one!.size + other!.centroid[at]! * other!.size) / size);
    clusters = [
      ...clusters.filter((cluster) => cluster !== one && cluster !== other),
      { node: 250 + step, centroid, size },
    ];
  }
});

test('classes are nobody, each speaker, and each two at once', () => {
  expect(classSpeakers(7)).toEqual([[], [0], [1], [2], [0, 1], [0, 2], [1, 2]]);
  expect(classSpeakers(11)).toHaveLength(11);
  expect(() => classSpeakers(5)).toThrow(/This model has 5/);
  const { active, probabilities } = readWindow(Float32Array.of(0, 0, 0, 9, 9, 0, 0, 0), classSpeakers(4));
  expect([...active]).toEqual([1, 1, 0, 0]);
  expect(probabilities[0]).toBeCloseTo(1, 3);
  expect(probabilities[2]).toBeCloseTo(0, 3);
});

test('a voice is what somebody says, or says alone', () => {
  const samples = Float32Array.from({ length: 100 }, (_, at) => at);
  const heard = windowOf([0], [0, 1], [], [0]);
  const ask = (isAlone: boolean) =>
    Array.from(voiceOf(samples.subarray(20), heard, { speaker: 0, speakers: 2, isAlone }, FRAMES)).filter(
      (_, at) => at % 10 === 0,
    );
  expect(ask(true)).toEqual([20, 50]);
  expect(ask(false)).toEqual([20, 30, 50]);
});

test('without voices, who speaks in the same frames is the same', () => {
  const windows = [windowOf([0], [0], [0], [1]), windowOf([1], [0], [0], [0]), windowOf([1], [], [1], [])];
  const local = [
    { window: 0, speaker: 0 },
    { window: 0, speaker: 1 },
    { window: 1, speaker: 0 },
    { window: 1, speaker: 1 },
    { window: 2, speaker: 1 },
  ];
  // The frames of the second window begin with the third of the first one.
  expect(matchWindows(windows, local, 2, FRAMES)).toEqual([0, 1, 1, 0, 1]);
  expect(
    matchWindows(
      [windows[0]!, windowOf([], [], [0], [])],
      [...local.slice(0, 2), { window: 1, speaker: 0 }],
      2,
      FRAMES,
    ),
  ).toEqual([0, 1, 2]);
});

test('turns: as many speak as windows say on average; pauses and short turns by their rules', () => {
  const windows = [windowOf([], [1], [0], [0]), windowOf([0], [0], [1], [0])];
  const local = [
    { window: 0, speaker: 0 },
    { window: 0, speaker: 1 },
    { window: 1, speaker: 0 },
    { window: 1, speaker: 1 },
  ];
  const rules = { minDurationOn: 0, minDurationOff: 0, most: Infinity };
  const ask = (own: object) =>
    turnsOf(windows, local, [0, 1, 0, 1], FRAMES, { ...rules, ...own }, 5.8).map(({ speaker, start, end }) => [
      speaker,
      start,
      end,
    ]);
  expect(ask({})).toEqual([
    ['SPEAKER_00', 1.5, 2.5],
    ['SPEAKER_01', 2.5, 4.5],
    ['SPEAKER_00', 4.5, 5.5],
    ['SPEAKER_01', 5.5, 5.8],
  ]);
  expect(ask({ minDurationOn: 0.5 })).toHaveLength(3);
  expect(ask({ minDurationOff: 1.5 })).toContainEqual(['SPEAKER_01', 2.5, 5.8]);
});

test('halves are rounded to even numbers', () => {
  expect([0.5, 1.5, 2.5, 2.4, 2.6, 3].map(halfEven)).toEqual([0, 2, 2, 2, 3, 3]);
});

const open = async (
  dims: readonly (number | null)[],
  frames: number,
  classes: number,
  onRun: () => void = () => undefined,
) =>
  await createTestHandler(SpeakerDiarizer, {
    inputs: [{ name: 'x', dtype: 'float32', dims }],
    outputs: () => {
      onRun();
      return {
        y: [Array.from({ length: frames }, () => Array.from({ length: classes }, (_, at) => (at === 0 ? 9 : 0)))],
      };
    },
  });
const sound = { samples: new Float32Array(8000), sampleRate: 16_000 };

test('silence has no turns', async () => {
  const handler = await open([1, 1, 3000], 8, 7);
  expect(await handler.handle([sound])).toEqual([[]]);
});

test('a stream says after each window how far the work is', async () => {
  const handler = await open([1, 1, 3000], 8, 7);
  const parts = await handler.stream({ samples: new Float32Array(3900), sampleRate: 16_000 });
  // Windows of 3,000 samples begin each 300: the last one is padded.
  expect(parts).toEqual([1, 2, 3, 4].map((done) => ({ done, total: 4 })).concat([[]] as never));
});

test('a piece of a sequence is refused: the speakers of each would have the names of the others', async () => {
  const handler = await open([1, 1, 3000], 8, 7);
  await expect(handler.openSequence().predict(sound)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringMatching(/piece of a sequence.* Pass the whole recording/),
  });
});

test('an abort ends the work after the window that is heard', async () => {
  const controller = new AbortController();
  let runs = -Infinity;
  const handler = await open([1, 1, 3000], 8, 7, () => {
    if (++runs === 2) controller.abort(new TabServeError('aborted', 'Nobody waits.'));
  });
  runs = 0;
  const long = { samples: new Float32Array(30_000), sampleRate: 16_000 };
  await expect(handler.handle([long], { signal: controller.signal })).rejects.toMatchObject({ code: 'aborted' });
  expect(runs).toBe(2);
});

test('a recording that cannot be read to its end fails alone, and is heard up to there', async () => {
  const handler = await open([1, 1, 3000], 8, 7);
  // Sound in memory is read in blocks: the first one is sound.
  const damaged = { samples: new Float32Array(2 ** 18 + 10), sampleRate: 16_000 };
  damaged.samples[2 ** 18] = NaN;
  const before = handler.runs.length;
  expect(await handler.handle([sound, damaged, sound], { params: { windowStep: 1 } })).toEqual([
    [],
    expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining(`NaN at sample ${2 ** 18}`) }),
    [],
  ]);
  expect(handler.runs.length - before).toBe(2 * 3 + Math.floor(2 ** 18 / 3000));
});

for (const [what, params, message] of [
  ['a number of people without voices', { numSpeakers: 2 }, /numSpeakers: .* no node "embedder"/],
  ['the least number without voices', { minSpeakers: 1 }, /minSpeakers/],
] as readonly (readonly [string, Params, RegExp])[])
  test(`${what}: invalid-input`, async () => {
    const handler = await open([1, 1, 3000], 8, 7);
    const [answer] = await handler.handle([sound], { params });
    expect(answer).toMatchObject({ code: 'invalid-input', message: expect.stringMatching(message) });
  });

test('a model of another kind is refused', async () => {
  await expect(open([1, 3000], 8, 7)).rejects.toMatchObject({ code: 'model-config' });
  await expect((await open([1, 1, 3000], 9, 7)).handle([sound])).rejects.toMatchObject({
    code: 'model-config',
    message: expect.stringMatching(/9 frames for 3000 samples/),
  });
});
