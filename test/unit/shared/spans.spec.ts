import { expect, test } from '@playwright/test';
import { addSpan } from '../../../src/shared/spans.ts';

test('of quick spans, sixty a second are shown; of others, all', async () => {
  const shown: string[] = [];
  const { measure } = performance;
  performance.measure = (name) => void shown.push(name) as never;
  const count = async (add: () => void): Promise<number> => {
    add();
    await new Promise((resolve) => setTimeout(resolve));
    return shown.splice(0).filter((name) => name === 'tabserve one of this test').length;
  };
  // Spans of other tests in this process, some of them by clocks of their own, are in a second before.
  const begin = 1e12 + performance.now() * 1000;
  const many = (from: number, took: number) => (): void => {
    for (let at = 0; at < 100; at++) addSpan('one of this test', begin + from, begin + from + took);
  };
  try {
    expect(await count(many(0, 0.5))).toBe(60);
    expect(await count(many(500, 0.5))).toBe(0);
    expect(await count(many(500, 1))).toBe(100);
    // Another second.
    expect(await count(many(1501, 0.5))).toBe(60);
  } finally {
    performance.measure = measure;
  }
});
