import { readdirSync, readFileSync } from 'node:fs';
import { zeroData } from '../../src/contract/dtypes.ts';
import { TabServeError } from '../../src/contract/errors.ts';
import type { TensorInfo, Tensors } from '../../src/contract/tensors.ts';
import { readSignature } from '../../src/worker/engines/onnx/signature.ts';
import { loadHandler } from '../../src/worker/handlers/registry.ts';
import { fetchArchive } from '../../src/worker/models/archive.ts';
import { fetchModel } from '../../src/worker/models/model-files.ts';
import { createTestContext } from '../../src/worker.ts';
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
  const archive = await fetchModel(await fetchArchive(files, { fetch, handlerClass: loadHandler }), 'onnx', { fetch });
  const { inputs, outputs } = readSignature(new Uint8Array(await archive.files[archive.models.onnx!]!.arrayBuffer()));
  const handler = new (await loadHandler(archive.manifest.model.handler))();
  const session = stubSession(inputs, outputs, () => zeros(outputs));
  const { config, manifest } = archive;
  await handler.initialize(createTestContext({ session, config, manifest, files: archive.files }));
  return { handler, session, config, manifest, inputs };
}

function zeros(outputs: readonly TensorInfo[]): Tensors {
  return Object.fromEntries(
    outputs.map(({ name, dtype, dims: declared }) => {
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
