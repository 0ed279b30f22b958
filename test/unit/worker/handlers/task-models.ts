/** Handlers with the models of `test/models/tasks`, on ONNX Runtime under Node. */
import { readdirSync, readFileSync } from 'node:fs';
import type { Context, Handler, Params } from '../../../../src/contract/handler.ts';
import { startEngine } from '../../../../src/server/node/engines.ts';
import { createTestContext } from '../../../../src/worker.ts';
import { createFiles } from '../../../../src/worker/models/files.ts';

/** Opens a repository with a handler. @param config of the handler */
export async function openTask(handler: Handler, repository: string, config: Params = {}) {
  const folder = new URL(`../../../models/tasks/${repository}/`, import.meta.url);
  const read = (path: string): Blob => new Blob([readFileSync(new URL(path, folder))]);
  const engine = await startEngine('onnx/cpu');
  const session = await engine.open(createFiles({ 'model.onnx': read('onnx/model.onnx') }), 'model.onnx', {});
  const files = Object.fromEntries(
    readdirSync(folder)
      .filter((name) => name.endsWith('.json'))
      .map((name) => [name, read(name)]),
  );
  const given = { session, files, config: { handler: config } };
  const first = createTestContext(given);
  const { kept } = first;
  await handler.initialize(first);
  return {
    session,
    async ask(
      inputs: readonly unknown[],
      params: Params = {},
      parts: Partial<Context> = {},
    ): Promise<readonly unknown[]> {
      const context = createTestContext({ ...given, kept, batchSize: inputs.length, params });
      return await handler.handle(inputs as never, { ...context, ...parts });
    },
    [Symbol.asyncDispose]: async () => await session[Symbol.asyncDispose](),
  };
}
