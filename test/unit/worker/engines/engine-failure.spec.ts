import { expect, test } from '@playwright/test';
import { engineError } from '../../../../src/worker/engines/failure.ts';
import { TabServeError } from '../../../../src/contract/errors.ts';

/** What engines and browsers say, by what it means. */
const SAYINGS = {
  'out-of-memory': [
    'std::bad_alloc',
    'Aborted(OOM)',
    'Array buffer allocation failed',
    'WebAssembly.Memory(): could not allocate memory: out of memory',
    'Cannot enlarge memory arrays',
  ],
  'device-lost': [
    'The device was lost',
    'Device is lost.',
    "A valid external Instance reference no longer exists: device 'x' lost",
  ],
  'inference-failed': ['Unknown op Frobnicate', 'the room is lost on me', 'boom', 'memory'],
} as const;

for (const [code, sayings] of Object.entries(SAYINGS)) {
  for (const saying of sayings) {
    test(`${code}: ${saying}`, () => {
      const cause = new Error(saying);
      expect(engineError('inference-failed', 'It could not', cause)).toMatchObject({
        code,
        message: `It could not: ${saying}`,
        cause,
      });
    });
  }
}

test('of ONNX Runtime’s errors for two formats, the one of the file’s own format is reported', () => {
  const cause = new Error(
    "Failed to load model as ONNX format: TypeError: int64 is not supported\nas ORT format: TypeError: Cannot read properties of null (reading 'irVersion')",
  );
  expect(engineError('backend-failed', 'It could not', cause)).toMatchObject({
    code: 'backend-failed',
    message: 'It could not: TypeError: int64 is not supported',
    cause,
  });
});

test('a TabServeError is returned unchanged', () => {
  const own = new TabServeError('invalid-input', 'no');
  expect(engineError('inference-failed', 'It could not', own)).toBe(own);
});
