/** Finds out what is needed to choose a backend for a model, without its weights. */
import type { Archive } from '../../contract/archive.js';
import { partsOf, type Part } from '../../contract/archive-parts.js';
import type { Assessed, AssessedFile } from '../../contract/assessment.js';
import { MODEL_FORMATS } from '../../contract/backends.js';
import { asTabServeError, atNode, TabServeError } from '../../contract/errors.js';
import type { LoadRequest } from '../../contract/wire.js';
import { chooseModel } from '../models/choose-model.js';
import { fileSizes, modelSize } from '../models/file-sizes.js';
import type { FindHandler } from '../models/hugging-face/read.js';
import type { RequestUrl } from '../models/onnx/declared.js';
import type { Source } from '../models/sources/source.js';
import { isPrivate } from '../../shared/request-policy.js';
import type { Downloads } from './downloads.js';
import { findHandler } from './nearest-handler.js';

/** Finds out what `load` would do. @throws what `load` throws because of the archive, except `unknown-handler` */
export async function assessArchive(
  { source, config, handler, download }: LoadRequest,
  downloads: Downloads,
  handlerClass: FindHandler,
): Promise<Assessed> {
  const { archive, sourceOf } = await downloads.outline(source, { config, handler, handlerClass }, download);
  const request = downloads.request(download);
  const found = await handlerOf(archive, handler, handlerClass, request);
  const isOwn = isPrivate(download.request ?? {});
  const storedSize: StoredSize = async (url, sha256, error) => {
    const file = { url: url.href, sha256, isPrivate: isOwn };
    const stored = downloads.cache(download)?.get(file, () => Promise.reject(error));
    return (await stored?.catch(() => undefined))?.size;
  };
  const parts = await Promise.all(
    partsOf(found.archive).map((part) => assessPart(part, request, sourceOf, storedSize)),
  );
  return { ...found, files: parts.flat() };
}

async function handlerOf(
  archive: Archive,
  chosen: string | undefined,
  handlerClass: FindHandler,
  request: RequestUrl,
): Promise<Pick<Assessed, 'archive' | 'handler'>> {
  const name = chosen ?? archive.manifest.model.handler;
  try {
    await handlerClass(name as string);
  } catch (error) {
    try {
      const found = await findHandler(error, archive, request);
      const reason = 'By its metadata, Ultralytics exported the file.';
      return { archive: found, handler: { name: found.manifest.model.handler, reason } };
    } catch (unknown) {
      if (!(unknown instanceof TabServeError) || unknown.code !== 'unknown-handler') throw unknown;
      return { archive, handler: { name: undefined, reason: unknown.message } };
    }
  }
  return { archive, handler: { name, reason: reasonOf(archive, chosen) } };
}

/** Returns where the name of a handler comes from that is there. */
function reasonOf(
  { architecture, contradiction, uncompared = '', isRepository }: Archive,
  chosen: string | undefined,
): string {
  if (chosen !== undefined) return `The option handler names it. ${contradiction ?? uncompared}`.trimEnd();
  if (!isRepository) return "The archive's manifest names it.";
  const says = architecture === undefined ? '' : `: config.json names the architecture ${architecture}`;
  return `It follows from the repository's files${says}. ${uncompared}`.trimEnd();
}

/** Returns the size of the file that `load` uses after this error, because an earlier visit has stored it. */
type StoredSize = (url: URL, sha256: string | undefined, error: TabServeError) => Promise<number | undefined>;

/**
 * Returns the files of a part's model that are there: without the server, those that an earlier visit has stored.
 * @throws `model-not-found` if there are none; `network` if the server cannot be reached, and nothing is stored
 */
async function assessPart(
  { node, archive }: Part,
  request: RequestUrl,
  sourceOf: (archive: Archive) => Promise<Source>,
  storedSize: StoredSize,
): Promise<readonly AssessedFile[]> {
  let unreachable: TabServeError | undefined;
  const sizes = fileSizes(archive, request, (url, sha256, error) => {
    unreachable ??= error;
    return storedSize(url, sha256, error);
  });
  const [sizeOf, source] = await Promise.all([sizes, sourceOf(archive)]);
  const { alternatives, models } = archive;
  const possible = alternatives ?? Object.values(models).map((path) => ({ path, precision: undefined }));
  const files = await Promise.all(
    possible.map(async ({ path, precision }) => {
      const found = await modelSize(path, sizeOf, (file) => source.read(file));
      if (!found) return [];
      const bytes = found.bytes === 'unknown' ? undefined : found.bytes;
      return [{ node, path, bytes, ...(precision && { precision }) }];
    }),
  );
  const there = files.flat();
  if (there.length === 0 && unreachable) throw node === '' ? unreachable : atNode(unreachable, node);
  const has = async (path: string): Promise<boolean> => there.some((file) => file.path === path);
  const formats = MODEL_FORMATS.filter((format) => models[format] !== undefined);
  const faults = await Promise.all(
    formats.map(async (format) => {
      try {
        if (!alternatives && !(await has(models[format]!))) throw source.missing(models[format]!);
        await chooseModel({ ...source, has }, archive, format, undefined);
        return undefined;
      } catch (error) {
        return asTabServeError(error);
      }
    }),
  );
  // Without its files in one format, the model may be there in the other.
  const [fault] = faults.includes(undefined) ? [] : faults;
  if (fault) throw node === '' ? fault : atNode(fault, node);
  return there;
}
