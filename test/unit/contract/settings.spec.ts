import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import * as fc from 'fast-check';
import { TabServeError } from '../../../src/contract/errors.ts';
import {
  CLIENT_SETTINGS,
  FRAME_SETTINGS,
  OVER_HTTP,
  REQUEST_SETTINGS,
  resolveSettings,
  SEQUENCE_SETTINGS,
  SERVING,
  servingOf,
} from '../../../src/contract/settings.ts';

const TABLES = { SERVING, CLIENT_SETTINGS, REQUEST_SETTINGS, SEQUENCE_SETTINGS, FRAME_SETTINGS, OVER_HTTP };
type Entry = { readonly type: string; readonly default?: number };

test('the docblock of each setting, which editors show and the docs have, says its default', () => {
  const source = readFileSync(new URL('../../../src/contract/settings.ts', import.meta.url), 'utf8');
  const docblocks = [...source.matchAll(/^ {2}\/\*\*((?:(?!\*\/)[^])*)\*\/\n {2}(\w+): \{/gm)];
  const entries = Object.values(TABLES).flatMap((table) => Object.entries<Entry>(table));
  expect(Object.fromEntries(docblocks.map(([, text, key]) => [key!, /@default (\S+)/.exec(text!)?.[1]]))).toEqual(
    Object.fromEntries(entries.map(([key, { default: fallback }]) => [key, fallback?.toString()])),
  );
});

test('the defaults are TorchServe’s where it has them', () => {
  expect(servingOf({})).toEqual({
    minWorkers: 1,
    maxWorkers: 1,
    batchSize: 1,
    maxBatchDelay: 0,
    jobQueueSize: 100,
    responseTimeout: 120,
    startupTimeout: 120,
  });
  expect(resolveSettings(CLIENT_SETTINGS, {})).toEqual({
    measureBudget: 3000,
    maxRetryTimeoutInSec: 300,
    maxRuns: undefined,
    maxMemory: undefined,
  });
});

test('a minimum of workers raises the maximum that nobody set, and contradicts a lower one', () => {
  expect(servingOf({ minWorkers: 3 })).toMatchObject({ minWorkers: 3, maxWorkers: 3 });
  expect(() => servingOf({ minWorkers: 3, maxWorkers: 2 })).toThrow(
    'minWorkers must be at most maxWorkers (2), not 3.',
  );
});

for (const [values, message] of [
  [{ timeout: 10n }, 'timeout must be a number > 0 and ≤ 2147483647, not 10n.'],
  [{ timeout: '10' }, 'timeout must be a number > 0 and ≤ 2147483647, not "10".'],
  [{ timeout: 0 }, 'timeout must be a number > 0 and ≤ 2147483647, not 0.'],
  [{ timeout: null }, 'timeout must be a number > 0 and ≤ 2147483647, not null.'],
  [{ priority: Object.create(null) as object }, /^priority must be an integer .*, not \{\}\.$/],
  [{ priority: Symbol('high') }, /^priority must be an integer .*, not Symbol\(high\)\.$/],
  [{ priority: 0.5 }, /^priority must be an integer .*, not 0\.5\.$/],
] as const) {
  test(`a request’s numbers are checked: ${String(message)}`, () => {
    expect(() => resolveSettings(REQUEST_SETTINGS, values, 'invalid-input')).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: typeof message === 'string' ? message : expect.stringMatching(message),
      }),
    );
  });
}

test('whatever the values are, the settings are numbers in range or a TabServeError', () => {
  const hostile = fc.oneof(
    fc.anything({ withBigInt: true, withNullPrototype: true, withDate: true, withSparseArray: true }),
    fc.double(),
    fc.constantFrom(
      Symbol('s'),
      () => 1,
      {
        toString: () => {
          throw new Error('no text');
        },
      },
      new Proxy({}, {}),
    ),
  );
  for (const [name, table] of Object.entries(TABLES)) {
    const keys = Object.keys(table);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...keys), hostile), (values) => {
        try {
          const settings = resolveSettings(table as typeof SERVING, values, 'invalid-input');
          for (const [key, { type, minimum, exclusiveMinimum, maximum }] of Object.entries<{
            type: string;
            minimum?: number;
            exclusiveMinimum?: number;
            maximum?: number;
          }>(table)) {
            const value: number | undefined = settings[key as 'batchSize'];
            if (values[key] === undefined) continue;
            expect(value).toBe(values[key]);
            if (type === 'integer') expect(Number.isInteger(value)).toBe(true);
            expect(value).toBeGreaterThanOrEqual(minimum ?? Number.MIN_VALUE);
            if (exclusiveMinimum !== undefined) expect(value).toBeGreaterThan(exclusiveMinimum);
            expect(value).toBeLessThanOrEqual(maximum ?? Number.MAX_VALUE);
          }
        } catch (error) {
          if (!(error instanceof TabServeError)) throw error;
          expect(error.message, name).toMatch(/must be .*, not /s);
        }
      }),
    );
  }
});
