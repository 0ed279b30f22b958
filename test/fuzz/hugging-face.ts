import { readdirSync, readFileSync } from 'node:fs';
import { zeroData } from '../../src/contract/dtypes.ts';
import { TabServeError } from '../../src/contract/errors.ts';
import type { Archive } from '../../src/contract/archive.ts';
import type { OutputInfo, Session, Tensors } from '../../src/contract/tensors.ts';
import { readSignature } from '../../src/worker/engines/onnx/signature.ts';
import { loadHandler } from '../../src/worker/handlers/registry.ts';
import { fetchWorkflow, fetchWorkflowModels } from '../../src/worker/models/fetch.ts';
import { createTestContext, type TestNode } from '../../src/worker.ts';
import { stubSession } from '../unit/support/stub-session.ts';

/** The size of an output's axis that the model does not tell. */
const DYNAMIC = 4;

/**
 * Opens a folder of Hugging Face's layout with one damaged file as a worker does, but for the engine: its model answers
 * with zeros.
 * @param seed the path of the undamaged file
 * @throws why it is refused; an error that a row has in its place
 */
export async function openFolder(seed: string, bytes: Uint8Array): Promise<void> {
  const { handler, session, config, manifest, inputs } = await openRepository(seed, bytes);
  const isText = inputs.some(({ name }) => name === 'input_ids');
  const input = isText ? 'Hello, world! naïve café 天气' : { data: new Uint8Array(31 * 17 * 3), dims: [17, 31, 3] };
  const rows = await handler.handle([input as never], createTestContext({ session, config, manifest }));
  const failed = rows.find((row) => row instanceof Error);
  if (failed && !(failed instanceof TabServeError)) throw failed as Error;
}

/** Opens such a folder without asking its handler. @throws why it is refused */
export async function openRepository(seed: string, bytes: Uint8Array) {
  const folder = new URL(`../../${seed.slice(0, seed.lastIndexOf('/') + 1)}`, import.meta.url);
  const damaged = seed.split('/').at(-1)!;
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => /\.\w+$/.test(path));
  const files = Object.fromEntries(
    paths.map((path) => {
      const own = path === damaged ? bytes : readFileSync(new URL(path, folder));
      return [path.replaceAll('\\', '/'), new Blob([own as BlobPart])];
    }),
  );
  const handlerName = folder.pathname.includes('/embed-clip/') ? 'image_text_embedder' : undefined;
  const read = await fetchWorkflow(files, { fetch, handler: handlerName, handlerClass: loadHandler });
  const archive = await fetchWorkflowModels(read, 'onnx', { fetch });
  const { config, manifest, nodes = {} } = archive;
  const own = archive.models.onnx === undefined ? undefined : await stubOf(archive);
  const parts = Object.entries(nodes).map(async ([name, node]) => [name, await stubOf(node)] as const);
  const stubs = Object.fromEntries(await Promise.all(parts));
  const session = own ?? stubs;
  const handler = new (await loadHandler(manifest.model.handler))();
  // Nodes that have handlers of their own.
  const handled = Object.entries(nodes).filter(() => handlerName !== undefined);
  const stands = handled.map(([name, node]): [string, TestNode] => {
    const { inputs, outputs } = stubs[name]!;
    return [name, { inputs, outputs: () => zeros(outputs), files: node.files, config: node.config }];
  });
  const context = { session, nodes: Object.fromEntries(stands), config, manifest, files: archive.files };
  await handler.initialize(createTestContext(context));
  return { handler, session, config, manifest, inputs: own?.inputs ?? [] };
}

/** Returns a stand-in for an archive's model, which answers with zeros. */
async function stubOf({ files, models }: Archive): Promise<Session> {
  const { inputs, outputs } = readSignature(new Uint8Array(await files[models.onnx!]!.arrayBuffer()));
  return stubSession(inputs, outputs, () => zeros(outputs));
}

function zeros(outputs: readonly OutputInfo[]): Tensors {
  return Object.fromEntries(
    outputs.map(({ name, dtype = 'float32', dims: declared }) => {
      const dims = declared.map((dim, axis) => (axis === 0 ? 1 : typeof dim === 'number' ? dim : DYNAMIC));
      return [
        name,
        {
          dtype,
          dims,
          data: zeroData(
            dtype,
            dims.reduce((product, dim) => product * dim, 1),
          ),
        },
      ];
    }),
  ) as Tensors;
}
