import { expect, test } from '@playwright/test';
import type { Tensor, TensorInfo } from '../../../../src/contract/tensors.ts';
import { checkFeeds, Lock, LockedSession } from '../../../../src/worker/engines/session.ts';

const input = (name: string): TensorInfo => ({ name, dtype: 'float32', dims: ['batch', 2] });
const tensor = (...data: number[]): Tensor => ({ dtype: 'float32', dims: [1, 2], data: Float32Array.from(data) });

test('an input that has the name of a method of every object is missing, if nothing is fed to it', () => {
  for (const name of ['constructor', 'toString', '__proto__'])
    expect(() => checkFeeds({}, [input(name)]), name).toThrow(
      expect.objectContaining({
        code: 'invalid-input',
        message: `Input "${name}" is missing: expected float32 [batch, 2].`,
      }),
    );
  expect(() => checkFeeds({ constructor: tensor(1, 2) }, [input('constructor')])).not.toThrow();
});

test('feeds must have the names, dtypes, dims and lengths of the inputs', () => {
  expect(() => checkFeeds({ x: tensor(1, 2) }, [input('x')])).not.toThrow();
  expect(() => checkFeeds({ x: tensor(1, 2), y: tensor(1, 2) }, [input('x')])).toThrow('has no input "y"');
  expect(() => checkFeeds({ x: tensor(1) }, [input('x')])).toThrow('make 2 elements, but 1 elements of data');
  expect(() => checkFeeds({ x: tensor(1, 2, 3) }, [input('x')])).toThrow('make 2 elements, but 3 elements of data');
});

test('a run whose signal has aborted while it waited does not begin; the next one does', async () => {
  const ran: number[] = [];
  let [begin, end] = [(): void => {}, (): void => {}];
  const [begun, ended] = [
    new Promise<void>((resolve) => (begin = resolve)),
    new Promise<void>((resolve) => (end = resolve)),
  ];
  const session = new LockedSession(
    {
      inputs: [input('x')],
      outputs: [],
      async run({ x }) {
        ran.push((x!.data as Float32Array)[0]!);
        begin();
        await ended;
        return {};
      },
      release() {},
    },
    new Lock(),
    undefined,
  );
  const stop = new AbortController();
  const running = session.run({ x: tensor(1, 0) }, { signal: stop.signal });
  const waiting = session.run({ x: tensor(2, 0) }, { signal: stop.signal });
  const refused = expect(waiting).rejects.toMatchObject({ code: 'aborted', message: 'Nobody waits.' });
  await begun;
  stop.abort(new Error('Nobody waits.'));
  end();
  await Promise.all([running, refused]);
  await session.run({ x: tensor(3, 0) });
  expect(ran).toEqual([1, 3]);
});
