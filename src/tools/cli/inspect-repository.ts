import { partsOf, type Archive } from '../../contract/archive.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { loadHandler } from '../../worker/handlers/registry.js';
import type { ArchiveLocation } from '../../worker/models/archive.js';
import { fetchWorkflow } from '../../worker/models/fetch.js';
import { listFiles } from '../../worker/models/sources/listing.js';
import { localSource, unpack } from '../../worker/models/sources/packed.js';
import { locate } from './local-archive.js';
import { formatBytes, formatRows } from './text.js';

/** Returns the size of a file by its path; undefined if there is none. */
type SizeOf = (path: string) => Promise<number | undefined>;

/**
 * Describes an archive, or a repository of Hugging Face's layout: the handler that serves it, the files of each of its
 * models by precision, the files beside them, and what follows for the config. No weights are downloaded.
 * @param source path of a folder or a packed archive, or a URL, as `load` takes it
 * @throws `model-not-found`, `model-format`, `model-config`, `network`
 */
export async function inspectRepository(source: string): Promise<string> {
  const from = URL.canParse(source) ? source : await locate(source);
  const { archive, unknown } = await readArchive(from);
  const sizeOf = await sizes(from, archive.url);
  const { handler, modelName } = archive.manifest.model;
  const parts = await Promise.all(
    partsOf(archive).map(async ({ node, archive: part }) => {
      const files = part.alternatives ?? Object.values(part.models).map((path) => ({ path, precision: undefined }));
      const lines = await Promise.all(
        files.map(async ({ path, precision }) => {
          const [own, data = 0] = await Promise.all([sizeOf(path), sizeOf(`${path}_data`)]);
          return own === undefined ? [] : [`${path}: ${precision ? `${precision}, ` : ''}${formatBytes(own + data)}`];
        }),
      );
      return [node === '' ? 'model' : `model ${node}`, lines.flat()] as const;
    }),
  );
  const beside = Object.entries(archive.files).map(([path, { size }]) => `${path}: ${formatBytes(size)}`);
  const rows = [
    ['handler', [unknown ?? handler ?? 'none: it is a workflow, or names none']],
    ...parts.map(([label, lines]) => [label, lines.length > 0 ? lines : ['no file']] as const),
    ['files beside', beside],
    ['config', [JSON.stringify(archive.config)]],
  ] as const;
  return `${modelName}\n${formatRows(rows)}`;
}

/** Reads an archive without its models. A handler that there is not is said, and the files are read all the same. */
async function readArchive(from: ArchiveLocation): Promise<{ readonly archive: Archive; readonly unknown?: string }> {
  const options = { fetch: globalThis.fetch, handlerClass: loadHandler };
  try {
    const archive = await fetchWorkflow(from, options);
    const { handler } = archive.manifest.model;
    if (handler !== undefined) await loadHandler(handler);
    return { archive };
  } catch (error) {
    if (!(error instanceof TabServeError) || error.code !== 'unknown-handler') throw error;
    return { archive: await fetchWorkflow(from, { ...options, handler: 'base_handler' }), unknown: messageOf(error) };
  }
}

async function sizes(from: ArchiveLocation, url: string): Promise<SizeOf> {
  if (typeof from !== 'string') {
    const local =
      from instanceof File ? await unpack(from.name, from) : Object.fromEntries(listFiles(url, Object.entries(from)));
    const files = await localSource(url, local);
    return async (path) => (files.paths!.includes(path) ? (await files.read(path))?.size : undefined);
  }
  return async (path) => {
    const response = await fetch(new URL(path, url), { method: 'HEAD' }).catch(() => undefined);
    const length = response?.ok ? Number(response.headers.get('content-length')) : NaN;
    return Number.isFinite(length) ? length : undefined;
  };
}
