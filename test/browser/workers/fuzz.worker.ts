import type { ModelFormat } from '../../../src/contract/backends.ts';
import { TabServeError } from '../../../src/contract/errors.ts';
import type { Engine } from '../../../src/worker/engines/engine.ts';
import { allEngines } from '../../../src/worker/engines/index.ts';
import { zeros } from '../../../src/worker/handlers/run-model.ts';
import { decodeImage } from '../../../src/worker/images/decode.ts';
import { createFiles } from '../../../src/worker/models/files.ts';
import { readWeightsManifest } from '../../../src/worker/models/shards.ts';

/** A damaged model with the files that it names, or a damaged image. */
export interface FuzzRequest {
  readonly engine: ModelFormat | 'image';
  readonly path: string;
  readonly files: Readonly<Record<string, Uint8Array>>;
}

/** `untyped` are errors without a code of the table. */
export interface FuzzAnswer {
  readonly code: string;
  readonly message: string;
}

const engines: Partial<Record<ModelFormat, Promise<Engine>>> = {};
const start = (name: ModelFormat): Promise<Engine> =>
  (engines[name] ??= allEngines[`${name}/wasm`]({ assets: undefined, threads: 1, onLost: () => {} }));

async function run({ engine, path, files }: FuzzRequest): Promise<void> {
  if (engine === 'image') {
    const image = await decodeImage(new Blob([files[path]! as BlobPart]), { maxPixels: 1 << 22 });
    try {
      await image.read();
    } finally {
      image.close();
    }
    return;
  }
  // As the archive does: the shards' sizes are compared before an engine sees them.
  if (engine === 'tfjs') {
    for (const { paths, bytes } of readWeightsManifest(new TextDecoder().decode(files[path]), path)) {
      const size = paths.reduce((sum, shard) => sum + (files[shard]?.length ?? 0), 0);
      if (size < bytes) throw new TabServeError('model-format', 'The shards are too short.');
    }
  }
  const session = await (await start(engine)).open(createFiles(files), path, {});
  try {
    const size = Math.max(
      0,
      ...session.inputs.map(({ dims }) => dims.reduce<number>((product, dim) => product * Number(dim ?? 1), 1)),
    );
    const feeds = size > 1e6 ? undefined : zeros(session.inputs);
    if (feeds) await session.run(feeds);
  } finally {
    await session[Symbol.asyncDispose]();
  }
}

addEventListener('message', ({ data }: MessageEvent<FuzzRequest>) => {
  run(data).then(
    () => postMessage({ code: 'answer', message: '' } satisfies FuzzAnswer),
    (error: unknown) =>
      postMessage({
        code: error instanceof TabServeError ? error.code : 'untyped',
        message: String((error as Error | undefined)?.stack ?? error).slice(0, 500),
      } satisfies FuzzAnswer),
  );
});
