import { expect, test } from '@playwright/test';
import { readAudio, type Recording } from '../../../../src/worker/audio/read-audio.ts';
import { SampleReader } from '../../../../src/worker/audio/sample-reader.ts';

/** A recording in blocks, which counts the blocks that were decoded. */
function recording(sampleRate: number, length: number, block = 1000) {
  const samples = Float32Array.from({ length }, (_, at) => Math.sin(at / 7) / 2);
  const counts = { opened: 0, blocks: 0, closed: 0 };
  const blocks: Recording['blocks'] = async function* () {
    counts.opened += 1;
    try {
      for (let at = 0; at < length; at += block) {
        counts.blocks += 1;
        yield samples.subarray(at, at + block);
      }
    } finally {
      counts.closed += 1;
    }
  };
  return { sampleRate, length, blocks, counts };
}

test('parts of a recording are those of the whole, and are decoded when they are asked for', async () => {
  for (const rate of [16_000, 44_100]) {
    const sound = recording(rate, 20_500);
    const whole = await readAudio(sound, 16_000, 60);
    const reader = new SampleReader(sound, 16_000, 60);
    sound.counts.blocks = 0;
    expect(await reader.read(0, 100)).toEqual(whole.slice(0, 100));
    expect(sound.counts.blocks).toBe(1);
    // Overlapping parts, then one behind a gap.
    for (const [start, end] of [
      [50, 2500],
      [2400, 2500],
      [6000, 6001],
      [7000, Infinity],
    ] as const)
      expect(await reader.read(start, end), `${rate}: ${start}`).toEqual(whole.slice(start, end));
    expect(await reader.read(whole.length, Infinity)).toEqual(new Float32Array(0));
    expect(sound.counts.blocks).toBe(21);
    // What lies before it is decoded again.
    expect(await reader.read(3, 5)).toEqual(whole.slice(3, 5));
    expect(sound.counts).toMatchObject({ opened: 3, closed: 2 });
    await reader.close();
    expect(sound.counts.closed).toBe(3);
  }
});

test('a recording that is longer than it says is read to its end, but not without a limit', async () => {
  const sound = { ...recording(16_000, 20_500), length: 1000 };
  expect(await readAudio(sound, 16_000, 60)).toHaveLength(20_500);
  await expect(readAudio(sound, 16_000, 0.1)).rejects.toMatchObject({
    code: 'invalid-input',
    message: expect.stringContaining('at most 0.1 s are allowed'),
  });
});

test('an abort ends the decoder, and each block is a heartbeat: to decode an hour may take minutes', async () => {
  const controller = new AbortController();
  let beats = 0;
  const heartbeat = (): void => {
    beats += 1;
    if (beats === 3) controller.abort();
  };
  const sound = recording(44_100, 20_500);
  const reading = readAudio(sound, 16_000, 60, { signal: controller.signal, heartbeat });
  await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
  expect([beats, sound.counts.blocks, sound.counts.closed]).toEqual([3, 4, 1]);
});
