import { readdirSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { withEnd } from '../../../../src/worker/images/containers/jpeg-blocks.ts';
import { fixture } from '../../../hostile-images.ts';

/** Progressive files, and those that are no pictures. */
const NONE = /progressive|truncated|empty|text|garbage|header|no-eoi/;
const JPEGS = readdirSync(new URL('../../../goldens/images/', import.meta.url)).filter(
  (name) => name.endsWith('.jpg') && !NONE.test(name),
);

test('a JPEG without its marker EOI gets it back, whatever stands in its place', () => {
  expect(JPEGS.length).toBeGreaterThan(15);
  for (const name of JPEGS) {
    const whole = fixture(name);
    const picture = whole.slice(0, -2);
    for (const rest of [[], [0], Array<number>(100).fill(0), [1, 2, 3], [0xff]])
      expect(withEnd(Uint8Array.from([...picture, ...rest])), name).toEqual(whole);
  }
});

test('a JPEG that lacks a part of its picture does not, and neither does one that zeros fill up', () => {
  const taken: string[] = [];
  for (const name of JPEGS) {
    const whole = fixture(name);
    for (let length = 0; length < whole.length - 3; length += 3) {
      const filled = new Uint8Array(length + 5000);
      filled.set(whole.subarray(0, length));
      if (withEnd(whole.subarray(0, length))) taken.push(`${name}, ${length} bytes`);
      if (withEnd(filled)) taken.push(`${name}, ${length} bytes and zeros`);
    }
  }
  expect(taken).toEqual([]);
  expect(withEnd(fixture('progressive.jpg'))).toBeUndefined();
  expect(withEnd(new Uint8Array(0))).toBeUndefined();
});
