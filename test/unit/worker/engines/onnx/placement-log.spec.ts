import { expect, test } from '@playwright/test';
import { PlacementLog } from '../../../../../src/worker/engines/onnx/placement-log.ts';

const line = (severity: string, text: string): string =>
  `2026-11-22 22:00:00.123456 [${severity}:onnxruntime:, webnn_execution_provider.cc:88 GetCapability] ${text}`;
const divided = (nodes: number, taken: number): string =>
  line(
    'I',
    `WebNNExecutionProvider::GetCapability, number of partitions supported by WebNN: 1 number of nodes in the graph: ${nodes} number of nodes supported by WebNN: ${taken}`,
  );

/** What the console prints while `work` runs. */
async function printed(work: () => Promise<void>): Promise<unknown[][]> {
  const { log, error } = console;
  const lines: unknown[][] = [];
  console.log = console.error = (...args: unknown[]) => void lines.push(args);
  try {
    await work();
  } finally {
    Object.assign(console, { log, error });
  }
  return lines;
}

test('counts the nodes of the whole graph, which is divided last, and adds up sessions', async () => {
  const log = new PlacementLog();
  await printed(async () => {
    const first = await log.watch(async () => {
      console.error(line('V', 'Operator type: [Loop] index: [0] name: [] supported: [0]'));
      console.error(divided(2, 1));
      console.error(line('V', 'Operator type: [Conv] index: [0] name: [] supported: [1]'));
      for (const operator of ['Gather', 'Sum', 'Gather'])
        console.error(line('V', `Operator type: [${operator}] index: [3] name: [a [b]] supported: [0]`));
      console.log(divided(10, 7));
      return 'session';
    });
    expect(first).toEqual({ session: 'session', nodes: { total: 10, onWasm: 3, operators: ['Gather', 'Sum'] } });
    const second = await log.watch(async () => console.error(`\x1b[0;93m${divided(5, 5)}`));
    expect(second.nodes).toEqual({ total: 5, onWasm: 0, operators: [] });
  });
  expect(log.nodes).toEqual({ total: 15, onWasm: 3, operators: ['Gather', 'Sum'] });
});

test('takes what it has asked ONNX Runtime to log, and passes on errors and what others print', async () => {
  const lines = await printed(async () => {
    await new PlacementLog().watch(async () => {
      console.error(line('V', 'Extending BFCArena'));
      console.error(line('W', 'Some nodes were not assigned'));
      console.error(line('E', 'bad'));
      console.log('mine', { a: 1 });
    });
    console.error(line('V', 'after it'));
  });
  expect(lines).toEqual([[line('E', 'bad')], ['mine', { a: 1 }], [line('V', 'after it')]]);
});

test('no summary in the log: nothing is known; after a failure the console is as before', async () => {
  const log = new PlacementLog();
  expect((await log.watch(async () => 1)).nodes).toBeUndefined();
  const { error } = console;
  await expect(log.watch(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(console.error).toBe(error);
});
