import { expect, test } from '@playwright/test';
import { LOG_LEVELS, modelLog, type LogLevel } from '../../../../src/tools/cli/model-log.ts';

/** What a level logs of one event of each kind. */
function logged(level: LogLevel, format: 'json' | 'common' = 'json'): string[] {
  const lines: string[] = [];
  const listeners = new Map<string, (event: unknown) => void>();
  const client = { on: (event: string, listener: never) => void listeners.set(event, listener) };
  modelLog(level, format, (line) => lines.push(line))('digits', client as never);
  const events = {
    fail: { message: 'No backend.' },
    warn: { message: 'Slow.' },
    recover: { cause: { message: 'It crashed.' }, replayed: 2, failed: 1, took: 12.4 },
    backendchange: { engine: 'onnx', name: 'cpu' },
    response: { rows: 1, batchSize: 4, queued: 1.26, timings: { preprocess: 0.5, inference: 2 } },
  };
  for (const [event, value] of Object.entries(events)) listeners.get(event)!(value);
  return lines;
}

test('each level has what the more serious ones have, too', () => {
  expect(LOG_LEVELS.map((level) => logged(level).length)).toEqual([1, 3, 4, 5]);
  expect(logged('debug').map((line) => JSON.parse(line))).toEqual(
    [
      ['error', 'every request fails: No backend.'],
      ['warn', 'Slow.'],
      ['warn', 'a worker was lost and replaced in 12 ms: It crashed. 2 requests ran again, 1 failed.'],
      ['info', 'runs on onnx/cpu'],
      ['debug', 'answered 1 of a batch of 4: queued 1.3 ms, preprocess 0.5 ms, inference 2.0 ms'],
    ].map(([level, message]) => ({ time: expect.any(String) as unknown, level, model: 'digits', message })),
  );
  expect(logged('error', 'common')).toEqual([expect.stringMatching(/^\S+Z ERROR digits: every request fails/)]);
});
