import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { errorFromData, errorToData } from '../../../src/contract/error-data.ts';
import * as errors from '../../../src/contract/errors.ts';
import { asTabServeError, PredictionError, TabServeError } from '../../../src/contract/errors.ts';

/** As a message between page and worker carries it. */
const cross = (error: unknown): Error => errorFromData(structuredClone(errorToData(error)));

test('an error of ours crosses whole, with its chain of causes', () => {
  const root = Object.assign(new RangeError('too deep'), { code: 'E_DEEP' });
  const error = cross(
    new PredictionError('handler-failed', 'broken', {
      stage: 'inference',
      cause: new TabServeError('device-lost', 'gone', { cause: root }),
    }),
  ) as PredictionError;
  expect(error).toBeInstanceOf(PredictionError);
  expect(error).toMatchObject({
    name: 'PredictionError',
    code: 'handler-failed',
    stage: 'inference',
    message: 'broken',
  });
  expect(error.cause).toBeInstanceOf(TabServeError);
  expect(error.cause).toMatchObject({ code: 'device-lost', retriable: true });
  expect((error.cause as Error).cause).toMatchObject({ name: 'RangeError', message: 'too deep', code: 'E_DEEP' });
});

test('whatever is thrown crosses', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  expect(cross('just text').message).toBe('just text');
  expect(cross(undefined).message).toBe('undefined');
  expect(cross(circle).message).toBe('[object Object]');
  expect(cross(new Error('x', { cause: { code: 7 } })).cause).toBe('{"code":7}');
  // Firefox's `Exception` has its properties on its prototype.
  const exception = { [Symbol.toStringTag]: 'Exception', name: 'NS_ERROR_FAILURE', message: '' };
  expect(cross(Object.create(exception)).message).toBe('NS_ERROR_FAILURE');
  expect(cross(Object.create({ ...exception, message: 'no disk' })).message).toBe('NS_ERROR_FAILURE: no disk');
  expect(cross(Object.create({ ...exception, name: 7 })).message).toBe('{}');
  const loop = new Error('loop');
  loop.cause = loop;
  expect(cross(loop).message).toBe('loop');
});

/** Another copy of the classes, as of the standalone build beside the one of npm. */
const copy = async (): Promise<typeof errors> =>
  (await import('../../../src/contract/errors.ts?copy' as string)) as never;

test('two copies of the package recognize the errors of each other, and those of classes that extend them', async () => {
  const other = await copy();
  expect(other.TabServeError).not.toBe(TabServeError);
  class Mine extends TabServeError {}
  class Theirs extends other.PredictionError {}
  for (const [error, isOurs, isPrediction] of [
    [new TabServeError('timeout', 'x'), true, false],
    [new PredictionError('timeout', 'x'), true, true],
    [new other.TabServeError('timeout', 'x'), true, false],
    [new other.PredictionError('timeout', 'x'), true, true],
    [new Mine('timeout', 'x'), true, false],
    [new Theirs('timeout', 'x'), true, true],
    [Object.assign(new Error('x'), { name: 'TabServeError', code: 'timeout' }), false, false],
    [{ name: 'TabServeError', code: 'timeout', message: 'x' }, false, false],
    [
      Object.setPrototypeOf(new Error('x'), Object.create(Error.prototype, { constructor: { value: undefined } })),
      false,
      false,
    ],
    [null, false, false],
  ] as const) {
    for (const { TabServeError: One, PredictionError: Row } of [errors, other])
      expect([error instanceof One, error instanceof Row], String(error)).toEqual([isOurs, isPrediction]);
    expect(error instanceof Mine, 'a class of an app is its own only').toBe(error?.constructor === Mine);
  }
});

test('an error of another copy keeps its class, code, stage and stack, wherever it goes', async () => {
  const other = await copy();
  const error = new other.PredictionError('image-decode', 'broken', { node: 'detect' });
  expect(asTabServeError(error)).toBe(error);
  expect(PredictionError.from(error)).toBe(error);
  const staged = asTabServeError(error, 'preprocess');
  expect(staged).toMatchObject({ name: 'PredictionError', code: 'image-decode', stage: 'preprocess', node: 'detect' });
  expect(staged.stack).toBe(error.stack);
  expect(cross(error)).toMatchObject({ name: 'PredictionError', code: 'image-decode', node: 'detect' });
});

test('an error keeps the first stage that was recorded', () => {
  const error = asTabServeError(new TypeError('x'), 'preprocess');
  expect(error).toMatchObject({ code: 'handler-failed', stage: 'preprocess' });
  expect(asTabServeError(error, 'postprocess').stage).toBe('preprocess');
  const prediction = asTabServeError(new PredictionError('invalid-input', 'y'), 'inference');
  expect(prediction).toBeInstanceOf(PredictionError);
  expect(prediction.stage).toBe('inference');
});

test('an error class of a handler’s own keeps its code, stage and message', () => {
  class NoBird extends TabServeError {
    override readonly name: string = 'NoBird';
    constructor(bird: string) {
      super('invalid-input', `No ${bird}.`);
    }
  }
  const error = cross(asTabServeError(new NoBird('owl'), 'postprocess'));
  expect(error).toBeInstanceOf(TabServeError);
  expect(error).toMatchObject({ code: 'invalid-input', stage: 'postprocess', message: 'No owl.' });
  expect(cross(new NoBird('owl'))).toBeInstanceOf(TabServeError);
});

test('whatever is thrown becomes a TabServeError that can be sent', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const thrown: Readonly<Record<string, unknown>> = {
    'an object whose toJSON answers with nothing': { toJSON: () => undefined },
    'an object without a prototype': Object.create(null),
    'an object that contains itself': cyclic,
    'a bigint': { large: 1n },
    'a symbol': Symbol('s'),
    nothing: undefined,
    'a message that is no string': Object.assign(new Error('x'), { message: { a: 1 } }),
    'a name and a stack that are none': Object.assign(new Error('x'), { name: 7, stack: { a: 1 }, cause: cyclic }),
  };
  for (const [what, value] of Object.entries(thrown)) {
    const error = asTabServeError(value, 'postprocess');
    expect(error, what).toMatchObject({ code: 'handler-failed', stage: 'postprocess' });
    expect(PredictionError.from(value), what).toBeInstanceOf(PredictionError);
    const crossed = cross(error);
    expect(crossed, what).toMatchObject({ code: 'handler-failed', stage: 'postprocess' });
    expect(typeof crossed.message, what).toBe('string');
    expect(() => cross(value), what).not.toThrow();
  }
});

test('a code that is not in the table does not reach the page', () => {
  const unknown = (name: string, code: unknown): Error => errorFromData({ name, message: 'no', code });
  for (const code of ['no-such-code', 'constructor', 7, undefined]) {
    expect(unknown('TabServeError', code)).toMatchObject({ name: 'TabServeError', code: 'handler-failed' });
    expect(unknown('PredictionError', code)).toBeInstanceOf(PredictionError);
  }
  expect(unknown('TabServeError', 'no-such-code').message).toContain('"no-such-code"');
});

test('an error that refers to the docs names a page, or a section, that exists', () => {
  const root = new URL('../../../', import.meta.url);
  const sources = readdirSync(new URL('src', root), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  const references = sources.flatMap((name) => [
    ...readFileSync(new URL(`src/${name}`, root), 'utf8').matchAll(/'[^'\n]*(docs\/\w+\.md)(?:#([\w-]+))?/g),
  ]);
  expect(references.length).toBeGreaterThan(0);
  for (const [, file, section] of references) {
    const headings = readFileSync(new URL(file!, root), 'utf8').match(/^#+ .*$/gm)!;
    const anchors = headings.map((heading) =>
      heading
        .replace(/^#+ /, '')
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
    );
    if (section !== undefined) expect(anchors).toContain(section);
  }
});
