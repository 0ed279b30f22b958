import { expect, test } from '@playwright/test';
import type { Envelope, HandleAnswer, HandleRequest } from '../../src/contract/wire.ts';
import { HandleGroups } from '../../src/client/workers/handle-groups.ts';
import { cloneSafe } from '../../src/worker/endpoint.ts';

/** Groups, the ids of the requests in each message, and a way to make and answer requests. */
function world(check: (ids: readonly string[]) => void = () => {}) {
  const sent: string[][] = [];
  const moved: number[] = [];
  const groups = new HandleGroups(async (requests, transferables) => {
    const ids = requests.map(({ id }) => id);
    sent.push(ids);
    moved.push(transferables.length);
    check(ids);
    return ids.map((id) => ({ ok: true, value: { rows: [{ ok: true, value: id }] } }) as never);
  });
  const ask = async (id: string, most = 8, list: Transferable[] = []): Promise<unknown> => {
    const answer = await groups.handle({ id } as HandleRequest, list, most);
    return (answer as { value: HandleAnswer }).value.rows[0];
  };
  return { sent, moved, ask };
}

const ids = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, at) => String(from + at));

test('requests that are made before the app returns share messages, and each gets its own answer', async () => {
  const { sent, moved, ask } = world();
  const answers = ids(0, 11).map((id) => ask(id, 8, id === '3' ? [new ArrayBuffer(1)] : []));
  expect(sent).toEqual([ids(0, 8)]);
  await Promise.resolve();
  expect(sent).toEqual([ids(0, 8), ids(8, 11)]);
  expect(moved).toEqual([1, 0]);
  expect(await Promise.all(answers)).toEqual(ids(0, 11).map((value) => ({ ok: true, value })));
});

test('one that may take long goes at once, alone, and behind those that wait', async () => {
  const { sent, ask } = world();
  const all = [ask('a'), ask('slow', 1), ask('b'), ask('c', 2)];
  expect(sent).toEqual([['a'], ['slow'], ['b', 'c']]);
  await Promise.all(all);
});

test('if a message cannot be sent, each of its requests goes alone', async () => {
  const { sent, ask } = world((some) => {
    if (some.includes('bad')) throw new Error('it cannot be cloned');
  });
  const outcomes = await Promise.allSettled([ask('a'), ask('bad'), ask('b')]);
  expect(sent).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('of answers that share a message, only rows that cannot be cloned are replaced by errors', () => {
  const posted: { readonly value: readonly Envelope<HandleAnswer>[] }[] = [];
  const port = {
    addEventListener() {},
    removeEventListener() {},
    postMessage: (message: never) => void posted.push(structuredClone(message)),
  };
  const answer = (...rows: unknown[]) => ({ ok: true, value: { rows: rows.map((value) => ({ ok: true, value })), timings: {}, handlerTime: 1, memory: 0 } }); // prettier-ignore
  cloneSafe(port as never).postMessage({
    id: '1',
    value: [answer('a'), answer(() => {}, 'b'), { ok: false, error: 'c' }],
  });
  expect(posted[0]!.value).toMatchObject([
    { value: { rows: [{ ok: true, value: 'a' }] } },
    {
      value: {
        rows: [
          { ok: false, error: { code: 'not-cloneable' } },
          { ok: true, value: 'b' },
        ],
      },
    },
    { ok: false, error: 'c' },
  ]);
});
