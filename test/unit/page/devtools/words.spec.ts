import { expect, test } from '@playwright/test';
import type { Verdict } from '../../../../src/page/selection/verdicts.ts';
import {
  describeBackend,
  describeOutcomes,
  describeProof,
  describeVerdict,
  inBytes,
  shortUrl,
} from '../../../../src/page/devtools/words.ts';
import { wasm, webgpu } from '../../support/pool-world.ts';

test('sizes', () => {
  expect([0, 999, 1000, 106_000, 1_440_000, 10_800_000_000].map(inBytes)).toEqual([
    '0 B',
    '999 B',
    '1 kB',
    '106 kB',
    '1.4 MB',
    '10.8 GB',
  ]);
});

test('a backend, and how it was proven', () => {
  expect(describeBackend({ ...webgpu, precision: 'fp16' })).toBe('onnx/webgpu, fp16');
  expect(describeProof({ ...wasm, largestError: 0.000_123_4, median: 1.25 })).toBe(
    'Serves: correct on the golden examples, largest difference 0.000123, 1.3 ms a run',
  );
  expect(describeProof({ ...wasm, proof: 'none' })).toBe('Serves: not compared');
});

const environment = 'here';
const excluded = [{ node: '', precision: 'fp16', reason: 'It has NaN.', file: 'a' }];
const VERDICTS: readonly (readonly [Verdict, string])[] = [
  [{ environment }, 'runs'],
  [{ environment, compared: true, median: 12 }, 'computes as WASM does; 12 ms a run'],
  [{ environment, compared: true, wrong: '3 of 10 differ' }, 'computes wrongly: 3 of 10 differ'],
  [{ environment, compared: true, larger: { sizes: {}, wrong: 'all differ' } }, 'computes wrongly: all differ'],
  [{ environment, failed: { reason: 'It is lost.', visits: 1 } }, 'failed at 1 visit: It is lost.'],
  [{ environment, excluded }, 'fp16 is left out: It has NaN.'],
];
for (const [verdict, text] of VERDICTS)
  test(`a verdict that ${text}`, () => expect(describeVerdict(verdict)).toBe(text));

test('outcomes of requests', () => {
  const series = (outcome: string, value: number) => ({ labels: { outcome }, unit: 'Count', value });
  const none = { counters: {}, gauges: {}, histograms: {} };
  expect(describeOutcomes(none)).toBe('none yet');
  const counters = { ts_inference_requests_total: [series('ok', 20), series('queue-full', 3)] };
  expect(describeOutcomes({ ...none, counters })).toBe('ok 20, queue-full 3');
});

test('a URL is shown without its query, which may hold a token, and without the page’s origin', () => {
  expect(shortUrl('https://app.test/models/a.onnx?token=secret#x', 'https://app.test')).toBe('/models/a.onnx');
  expect(shortUrl('https://cdn.test/a.onnx?token=secret', 'https://app.test')).toBe('https://cdn.test/a.onnx');
  expect(shortUrl('https://app.test.evil/a', 'https://app.test')).toBe('https://app.test.evil/a');
});
