// TorchServe's graphs of nodes: `docs/workflows.md` and `WorkflowManager.java` of pytorch/serve 62c4d6a.
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { load } from 'js-yaml';
import { PredictionError, TabServeError } from '../../../../src/contract/errors.ts';
import type { Context } from '../../../../src/contract/handler.ts';
import { createTestContext } from '../../../../src/worker/host/test-context.ts';
import { createTestHandler, type TestHandler } from '../../../../src/worker/host/testing.ts';
import type { TestNode } from '../../../../src/worker/host/test-context.ts';
import { GraphWorkflow, type NodeFunction } from '../../../../src/worker/handlers/graph-workflow.ts';
import { Pets } from '../../../readme/pets.worker.ts';

type Answers = (rows: readonly never[], context: Context) => readonly unknown[] | Promise<readonly unknown[]>;

/** A node that answers with what a function makes of a row. */
const each =
  (one: (row: never) => unknown): Answers =>
  (rows) =>
    rows.map((row) => {
      try {
        return one(row);
      } catch (error) {
        return PredictionError.from(error);
      }
    });

async function graph(
  dag: Readonly<Record<string, readonly string[]>>,
  nodes: Readonly<Record<string, Answers>>,
  { settings, Workflow = GraphWorkflow }: { settings?: object; Workflow?: new () => GraphWorkflow } = {},
): Promise<TestHandler<GraphWorkflow>> {
  const stands = Object.fromEntries(
    Object.entries(nodes).map(([name, answers]): [string, TestNode] => [name, { answers }]),
  );
  return await createTestHandler(Workflow, {
    nodes: stands,
    config: {
      nodes: Object.fromEntries(Object.keys(nodes).map((name) => [name, `${name}/`])),
      handler: { dag, ...(settings && { nodeSettings: settings }) },
    },
  });
}

test("a chain: each node's result is the next one's input", async () => {
  const handler = await graph(
    { double: ['next'], next: ['text'], text: [] },
    { double: each((x: number) => 2 * x), next: each((x: number) => x + 1), text: each((x: number) => `is ${x}`) },
  );
  expect(await handler.handle([1, 2])).toEqual(['is 3', 'is 5']);
});

test('a diamond: branches run side by side, and what is behind both gets both by their names', async () => {
  const order: string[] = [];
  let release!: () => void;
  const gate = new Promise<void>((resolve) => (release = resolve));
  const slow: Answers = async (rows) => {
    order.push('slow begins');
    await gate;
    return rows.map((row) => `slow ${row}`);
  };
  const quick: Answers = (rows) => {
    order.push('quick begins');
    release();
    return rows.map((row) => `quick ${row}`);
  };
  const handler = await graph(
    { first: ['slow', 'quick'], slow: ['both'], quick: ['both'] },
    {
      first: each((x: number) => -x),
      slow,
      quick,
      both: each((row: object) => row),
    },
  );
  expect(await handler.predict(1)).toEqual({ slow: 'slow -1', quick: 'quick -1' });
  expect(order).toEqual(['slow begins', 'quick begins']);
});

test('several first nodes get the input, and several last ones answer together', async () => {
  const handler = await graph(
    { a: [], b: ['c'] },
    {
      a: each((x: number) => x + 1),
      b: each((x: number) => x * 10),
      c: each((x: number) => x - 1),
    },
  );
  expect(await handler.predict(2)).toEqual({ a: 3, c: 19 });
});

test('a row that fails in a node gets no further, and names the node; the others go on', async () => {
  const seen: unknown[] = [];
  const handler = await graph(
    { check: ['last'], other: ['last'] },
    {
      check: each((x: number) => {
        if (x === 13) throw new TabServeError('invalid-input', 'not 13');
        return x;
      }),
      other: each((x: number) => x),
      last: (rows) => {
        seen.push(...rows);
        return rows;
      },
    },
  );
  const [one, failed, three] = await handler.handle([1, 13, 3]);
  expect([one, three]).toEqual([
    { check: 1, other: 1 },
    { check: 3, other: 3 },
  ]);
  expect(failed).toMatchObject({ code: 'invalid-input', node: 'check' });
  expect(seen).toHaveLength(2);
});

test('nodeSettings: batches of a node, and rows that are tried again', async () => {
  const sizes: number[] = [];
  let failures = 0;
  const handler = await graph(
    { a: [] },
    {
      a: (rows) => {
        sizes.push(rows.length);
        return rows.map((row) =>
          row === 3 && failures++ < 2 ? PredictionError.from(new TabServeError('handler-failed', 'now and then')) : row,
        );
      },
    },
    { settings: { a: { batchSize: 2, retryAttempts: 2 } } },
  );
  expect(await handler.handle([1, 2, 3])).toEqual([1, 2, 3]);
  expect(sizes).toEqual([2, 1, 1, 1]);
  failures = -9;
  const [, , failed] = await handler.handle([1, 2, 3]);
  expect(failed).toMatchObject({ code: 'handler-failed', message: expect.stringContaining('now and then') as unknown });
});

test('nodeSettings: rows of several requests wait for one another in a node, up to its batch size', async () => {
  const sizes: number[] = [];
  const count: Answers = (rows) => {
    sizes.push(rows.length);
    return rows;
  };
  const full = await graph({ a: [] }, { a: count }, { settings: { a: { batchSize: 3, maxBatchDelay: 2 ** 31 - 1 } } });
  expect(full.handler.batchesAtOnce).toBeGreaterThan(3);
  expect(await Promise.all([full.handle([1, 2]), full.predict(3)])).toEqual([[1, 2], 3]);
  expect(await Promise.all([full.predict(4), full.handle([5, 6, 7]), full.handle([8, 9])])).toEqual([
    4,
    [5, 6, 7],
    [8, 9],
  ]);
  expect(sizes.splice(0)).toEqual([3, 3, 3]);
  // After the delay, it runs with what is there.
  const late = await graph({ a: [] }, { a: count }, { settings: { a: { batchSize: 9, maxBatchDelay: 1 } } });
  expect(await Promise.all([late.predict(1), late.predict(2)])).toEqual([1, 2]);
  expect(sizes).toEqual([2]);
});

test('nodeSettings: what fails or is aborted in a batch of several requests costs the others nothing', async () => {
  const signals: AbortSignal[] = [];
  const first = new AbortController();
  class Checks extends GraphWorkflow {
    override readonly functions: Readonly<Record<string, NodeFunction>> = {
      check: async (rows: readonly number[], context) => {
        signals.push(context.signal);
        if (rows.includes(21)) first.abort();
        await Promise.resolve();
        if (rows.includes(13)) throw new TabServeError('invalid-input', 'not 13');
        return rows;
      },
    };
  }
  const settings = { check: { batchSize: 3, maxBatchDelay: 2 ** 31 - 1 } };
  const handler = await graph({ check: [] }, {}, { Workflow: Checks, settings });
  const [one, bad, three] = await Promise.allSettled([1, 13, 3].map((row) => handler.predict(row)));
  expect([one, three]).toEqual([1, 3].map((value) => ({ status: 'fulfilled', value })));
  expect(bad).toMatchObject({ status: 'rejected', reason: { code: 'invalid-input', node: 'check' } });

  signals.length = 0;
  const [left, stays, other] = await Promise.allSettled([
    handler.predict(21, { signal: first.signal }),
    handler.predict(22),
    handler.predict(23),
  ]);
  expect(left.status).toBe('rejected');
  expect([stays, other]).toEqual([22, 23].map((value) => ({ status: 'fulfilled', value })));
  expect(signals[0]!.aborted).toBe(false);
});

test('nodeSettings: a node that takes too long fails with timeout, and its run is aborted', async () => {
  let signal: AbortSignal | undefined;
  const handler = await graph(
    { a: ['b'] },
    {
      a: (_, context) => {
        signal = context.signal;
        return new Promise(() => {});
      },
      b: each((x) => x),
    },
    { settings: { a: { timeout: 20 } } },
  );
  const [failed] = await handler.handle([1]);
  expect(failed).toMatchObject({ code: 'timeout', node: 'a' });
  expect(signal!.aborted).toBe(true);
});

class WithFunctions extends GraphWorkflow {
  override readonly functions: Readonly<Record<string, NodeFunction>> = {
    pre_processing: (rows: readonly number[]) => rows.map((row) => row * 100),
    aggregate: (rows: readonly { readonly cats: number; readonly dogs: number }[]) =>
      rows.map(({ cats, dogs }) => (cats > dogs ? 'cats' : 'dogs')),
    short: () => [],
  };
}

test('nodes that are functions of the app', async () => {
  const nodes = { cats: each((x: number) => x), dogs: each(() => 250) };
  const dag = { pre_processing: ['cats', 'dogs'], cats: ['aggregate'], dogs: ['aggregate'] };
  const handler = await graph(dag, nodes, { Workflow: WithFunctions });
  expect(await handler.handle([1, 3])).toEqual(['dogs', 'cats']);
  const short = await graph({ short: [] }, {}, { Workflow: WithFunctions });
  const [failed] = await short.handle([1]);
  expect(failed).toMatchObject({ code: 'batch-contract', node: 'short' });
});

test('a function gets the params, ids and requests of its own rows, beside failed ones, in batches and retries', async () => {
  const seen: unknown[] = [];
  let tries = 0;
  const graphs: GraphWorkflow[] = [];
  class Reads extends GraphWorkflow {
    constructor() {
      super();
      graphs.push(this);
    }
    override readonly functions: Readonly<Record<string, NodeFunction>> = {
      read: (rows: readonly string[], context) =>
        rows.map((row, at) => {
          seen.push([row, context.params[at]!['of'], context.request(at)?.path, context.systemProperties.batchSize]);
          if (row === 'c' && tries++ === 0) context.fail(at, new Error('now and then'));
          context.respond(at, { headers: { row } });
          return row;
        }),
    };
  }
  const first = each((row: string) => {
    if (row === 'a') throw new Error('no');
    return row;
  });
  await graph(
    { first: ['read'] },
    { first },
    { Workflow: Reads, settings: { read: { batchSize: 2, retryAttempts: 1 } } },
  );
  const names = ['a', 'b', 'c', 'd'];
  const answered: unknown[] = [];
  const context: Context = {
    ...createTestContext({ batchSize: 4 }),
    params: names.map((name) => ({ of: `of ${name}` })),
    request: (index) => ({ headers: new Headers(), path: `path of ${names[index]}`, query: new URLSearchParams() }),
    respond: (index, { headers }) => void answered.push([index, headers!['row']]),
  };
  const [failed, ...results] = await graphs.at(-1)!.handle(names, context);
  expect(failed).toMatchObject({ message: expect.stringContaining('no') as unknown });
  expect(results).toEqual(['b', 'c', 'd']);
  expect(answered).toEqual([
    [1, 'b'],
    [2, 'c'],
    [3, 'd'],
    [2, 'c'],
  ]);
  expect(seen).toEqual([
    ['b', 'of b', 'path of b', 2],
    ['c', 'of c', 'path of c', 2],
    ['d', 'of d', 'path of d', 1],
    ['c', 'of c', 'path of c', 1],
  ]);
});

test('a graph that cannot run is refused when it is opened', async () => {
  const node = each((x) => x);
  const message = async (...args: Parameters<typeof graph>): Promise<string> =>
    await graph(...args).then(
      () => 'opened',
      (error: TabServeError) => `${error.code}: ${error.message}`,
    );
  expect(await message({ a: ['b'], b: ['c'], c: ['a'] }, { a: node, b: node, c: node })).toMatch(
    /^model-config: handler\.dag: "a" waits for itself/,
  );
  expect(await message({ a: ['b'], b: ['b'] }, { a: node, b: node })).toMatch(/"b" waits for itself/);
  expect(await message({ pre_processing: ['a'] }, { a: node })).toMatch(
    /^model-config: handler\.dag: "pre_processing" is no archive of `nodes`, and no function here/,
  );
  expect(await message({ a: [] }, { a: node }, { settings: { c: { batchSize: 1 } } })).toMatch(/has no node "c"/);
  expect(await message({ a: [] }, { a: node }, { settings: { a: { batchSize: 0 } } })).toMatch(/batchSize/);
});

test('a graph of 32 nodes with many ways through it', async () => {
  const names = Array.from({ length: 32 }, (_, at) => `n${at}`);
  const dag = Object.fromEntries(names.map((name, at) => [name, names.slice(at + 1)]));
  const handler = await graph(dag, Object.fromEntries(names.map((name) => [name, each(() => 1)])));
  expect(await handler.predict(0)).toBe(1);
});

test('docs/workflows.md: graph.yaml runs its nodes in this order, and a batch of one of them has four rows', async () => {
  const yaml = load(readFileSync(new URL('../../../readme/graph.yaml', import.meta.url), 'utf8')) as {
    readonly handler: { readonly dag: Record<string, string[]>; readonly nodeSettings: object };
  };
  const sizes: number[] = [];
  const handler = await graph(
    yaml.handler.dag,
    {
      detect: each((x: number) => x + 1),
      classify: (rows) => {
        sizes.push(rows.length);
        return rows.map((row) => `class ${row}`);
      },
      count: each((x: number) => x * 10),
    },
    { settings: yaml.handler.nodeSettings },
  );
  expect(await handler.handle([1, 2, 3, 4, 5])).toEqual(
    [2, 3, 4, 5, 6].map((x) => ({ classify: `class ${x}`, count: 10 * x })),
  );
  expect(sizes).toEqual([4, 1]);
});

test('docs/workflows.md: the function of pets.worker.ts is a node', async () => {
  const handler = await graph(
    { count: ['aggregate'], aggregate: [] },
    { count: each(([cats, dogs]: [number, number]) => ({ cats, dogs })) },
    { Workflow: Pets },
  );
  expect(
    await handler.handle([
      [2, 1],
      [0, 3],
    ]),
  ).toEqual(['a cat', 'a dog']);
});
