// By files of ffmpeg: `test/goldens/sounds/make.py`. tone.mp3 has two channels, growing.mp3 has one; both have 44,100 Hz.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { isMixed } from '../../../../src/worker/audio/mp3-frames.ts';

const stereo = readFileSync('test/goldens/sounds/tone.mp3');
const mono = readFileSync('test/goldens/sounds/growing.mp3');
/** A tag with a cover that has the beginning of a frame in it. */
const tag = Buffer.from([
  ...Buffer.from('ID3\x03\0\0\0\0\x02\0'),
  ...Array.from({ length: 64 }, () => [0xff, 0xfb, 0x90, 0]).flat(),
]);

for (const [name, parts, expected] of [
  ['one file', [stereo], false],
  ['frames of changing sizes', [mono], false],
  ['two files of one kind, with a tag between them', [stereo, tag, stereo], false],
  ['one and two channels', [mono, stereo], true],
  ['two channels, one, and two', [tag, stereo, tag, mono, tag, stereo], true],
  ['hundreds of files, beyond what is read at once', [...Array.from({ length: 300 }, () => stereo), mono], true],
  ['no frames', [tag], false],
  ['nothing', [], false],
] as const)
  test(`whether an MP3 file changes its kind: ${name}`, async () => {
    expect(await isMixed(new Blob([...parts]))).toBe(expected);
  });
