import { expect, test } from '@playwright/test';
import { AnswerGroups } from '../../src/worker/answer-groups.ts';
import { ungrouped } from '../../src/client/workers/ungrouped.ts';

/** Groups with a clock and tasks of the test's own, and what they have sent: lists of the answers of each message, by id. */
function world(post?: (message: unknown) => void) {
  const sent: string[][] = [];
  const tasks: (() => void)[] = [];
  const clock = { now: 0 };
  const idOf = (message: unknown): string => (message as { id: string }).id;
  const groups = new AnswerGroups(
    (message, list) => {
      post?.(message);
      structuredClone(message, { transfer: list });
      sent.push((message as { answers: unknown[] }).answers.map(idOf));
    },
    (message) => void sent.push([idOf(message)]),
    (task) => void tasks.push(task),
    () => clock.now,
  );
  const ask = (id: string, quick = true): void => groups.received({ id, argumentList: [{ value: { quick } }] });
  const answer = (id: string, value: unknown = { rows: [id] }, list: Transferable[] = []): void =>
    groups.send({ id, value }, list);
  const runTasks = (): void => tasks.splice(0).forEach((task) => task());
  return { sent, clock, groups, ask, answer, runTasks };
}

test('answers to quick requests go together, as soon as no message waits behind them', () => {
  const { sent, ask, answer, runTasks } = world();
  for (const id of ['a', 'b', 'c']) ask(id);
  for (const id of ['a', 'b', 'c']) answer(id);
  expect(sent).toEqual([]);
  runTasks();
  expect(sent).toEqual([['a', 'b', 'c']]);
  ask('d');
  answer('d');
  runTasks();
  expect(sent.at(-1)).toEqual(['d']);
});

test('any other answer goes at once, after those that wait', () => {
  const { sent, ask, answer } = world();
  ask('slow', false);
  ask('a');
  answer('a');
  answer('slow');
  expect(sent).toEqual([['a'], ['slow']]);
});

test('no answer waits for a request that may take long, or behind a cancellation', () => {
  const { sent, groups, ask, answer } = world();
  ask('a');
  answer('a');
  ask('slow', false);
  expect(sent).toEqual([['a']]);
  ask('b');
  answer('b');
  groups.received({ id: 'x', path: ['cancel'], argumentList: [{ value: 'b' }] });
  expect(sent).toEqual([['a'], ['b']]);
});

test('an answer waits for 2 ms, or for 8 in a group', () => {
  const { sent, clock, ask, answer } = world();
  const ids = Array.from({ length: 9 }, (_, index) => String(index));
  ids.forEach((id) => ask(id));
  ids.forEach((id) => answer(id));
  expect(sent).toEqual([ids.slice(0, 8)]);
  ask('late');
  clock.now = 2;
  answer('late');
  expect(sent[1]).toEqual(['8', 'late']);
});

test('buffers move with their group; if a group cannot be sent, each answer goes alone', () => {
  const { sent, ask, answer, runTasks } = world();
  const [one, two, three] = [new Uint8Array(1), new Uint8Array(2), new Uint8Array(3)];
  ['a', 'b', 'c', 'd'].forEach((id) => ask(id));
  answer('a', { rows: [one] }, [one.buffer]);
  answer('b', { rows: [two] }, [two.buffer]);
  runTasks();
  expect([one.length, two.length]).toEqual([0, 0]);
  answer('c', { rows: [three] }, [three.buffer]);
  answer('d', { rows: [Symbol('no')] });
  runTasks();
  expect(sent).toEqual([['a', 'b'], ['c'], ['d']]);
  expect(three.length).toBe(3);
});

test('an answer that cannot be sent at all is told as a failure of its own, and the others are sent', () => {
  const sent: unknown[] = [];
  const tasks: (() => void)[] = [];
  const post = (message: unknown): void => {
    if ((message as { value: unknown }).value === 'no' || (message as { answers?: unknown }).answers)
      throw new RangeError('no memory');
    sent.push(message);
  };
  const groups = new AnswerGroups(
    post,
    post,
    (task) => void tasks.push(task),
    () => 0,
  );
  for (const id of ['a', 'b', 'c']) groups.received({ id, argumentList: [{ value: { quick: true } }] });
  for (const [id, value] of [
    ['a', 1],
    ['b', 'no'],
    ['c', 3],
  ] as const)
    groups.send({ id, value }, []);
  tasks.splice(0).forEach((task) => task());
  expect(sent).toEqual([
    { id: 'a', value: 1 },
    {
      id: 'b',
      value: { ok: false, error: expect.objectContaining({ message: expect.stringContaining('no memory') }) },
    },
    { id: 'c', value: 3 },
  ]);
});

test('the page hears each answer of a group alone', () => {
  const port = new EventTarget() as unknown as MessagePort;
  port.postMessage = () => {};
  const heard: unknown[] = [];
  ungrouped(port).addEventListener('message', ((event: MessageEvent) => heard.push(event.data)) as never);
  const answers = [{ id: 'a' }, { id: 'b' }];
  port.dispatchEvent(new MessageEvent('message', { data: { type: 'answers', answers } }));
  port.dispatchEvent(new MessageEvent('message', { data: { id: 'c' } }));
  expect(heard).toEqual([...answers, { id: 'c' }]);
});
