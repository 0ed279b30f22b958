import type { Archive } from '../../contract/archive.js';
import { allParts, partsOf, type Part } from '../../contract/archive-parts.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { MAX_TEXT_BYTES } from '../../contract/limits.js';
import type { Precision } from '../../contract/precisions.js';
import { memoryOf } from '../../shared/memory.js';
import { HF_CONFIG } from '../../shared/model-url.js';
import { loadHandler } from '../../worker/handlers/registry.js';
import type { ArchiveLocation } from '../../worker/models/archive.js';
import { findHandler } from '../../worker/host/nearest-handler.js';
import { fetchWorkflow } from '../../worker/models/fetch.js';
import type { RequestUrl } from '../../worker/models/onnx/declared.js';
import { parseJson, readText } from '../../worker/models/json.js';
import { missingModel } from '../../worker/models/choose-model.js';
import { sourceOf } from '../../worker/models/model-files.js';
import { LABELS, MANIFEST } from '../../worker/models/manifest.js';
import { sideFiles } from '../../worker/models/side-files.js';
import { fileSizes, modelSize, type SizeOf } from '../../worker/models/file-sizes.js';
import { uncomparedClass, UncomparedClass } from '../../worker/models/hugging-face/uncompared.js';
import { withToolAdvice } from './load-options.js';
import { locate } from './local-archive.js';
import { formatBytes, formatRows } from './text.js';

/**
 * Describes an archive, or a repository of Hugging Face's layout: the handler that serves it, the files of each of its
 * models by precision, the other files, the number of labels, and the derived config. No weights are downloaded. The
 * files of a server cannot be listed, so the other files are those that the archive is read from.
 * @param source path of a folder or a packed archive, or a URL, as `load` takes it
 * @throws `model-not-found`, also if no file of a model is there; `model-format`, `model-config`, `network`
 */
export async function inspectRepository(source: string): Promise<string> {
  const found = new Set<string>();
  const from = URL.canParse(source) ? source : await locate(source);
  const { archive, unknown } = await readArchive(from, found);
  const { handler, modelName } = archive.manifest.model;
  const models = await Promise.all(partsOf(archive).map(describeModels));
  const [all, ownModels] = [allParts(archive), new Set(models.flatMap(({ paths }) => paths))];
  for (const { archive: part } of all) for (const path of sideFiles(part)) found.add((part.root ?? '') + path);
  const sizeOf = await fileSizes({ ...archive, root: '' }, REQUEST);
  const beside = await Promise.all(
    [...found]
      .filter((path) => !ownModels.has(path))
      .toSorted()
      .map(async (path) => describeFile(path, await sizeOf(path))),
  );
  const labels = await Promise.all(all.map(async (part) => [nameOf('labels', part), await countLabels(part, found)]));
  const configs = all.map((part) => [nameOf('config', part), describeConfig(part)] as const);
  const rows = [
    ['handler', [unknown ?? handler ?? 'none: it is a workflow']],
    ...models.map(({ label, lines }) => [label, lines.length > 0 ? lines : ['no file']] as const),
    ['files beside', beside.flat()],
    ...(labels as [string, string[]][]),
    ...configs,
  ] as const;
  return `${modelName}\n${formatRows(rows)}`;
}

/** Returns a row's label, which names the node. */
function nameOf(label: string, { node }: Part): string {
  return node === '' ? label : `${label} ${node}`;
}

/** Describes the files of a part's model that are there; `paths` has those files by their paths in the whole archive. */
async function describeModels(
  part: Part,
): Promise<{ readonly label: string; readonly lines: readonly string[]; readonly paths: readonly string[] }> {
  const { archive } = part;
  const { alternatives, models, root = '' } = archive;
  const [sizeOf, source] = await Promise.all([
    fileSizes(archive, REQUEST),
    sourceOf(archive, { fetch: globalThis.fetch }),
  ]);
  const files = alternatives ?? Object.values(models).map((path) => ({ path, precision: undefined }));
  const found = await Promise.all(
    files.map(async ({ path, precision }) => {
      const model = await modelSize(path, sizeOf, (file) => source.read(file));
      return model ? [{ ...model, line: describeModel(path, model.bytes, precision) }] : [];
    }),
  );
  if (files.length > 0 && found.flat().length === 0) throw missingModel(source, files);
  return {
    label: nameOf('model', part),
    lines: found.flat().map(({ line }) => line),
    paths: found.flatMap((models) => models.flatMap(({ paths }) => paths.map((path) => root + path))),
  };
}

/** Returns a line that describes a model. Its memory is that of a browser's WASM. */
function describeModel(path: string, bytes: number | 'unknown', precision: Precision | undefined): string {
  const text = describeFile(path, bytes, precision)[0]!;
  return bytes === 'unknown'
    ? text
    : `${text}, about ${formatBytes(memoryOf({ name: 'wasm' }, [{ path, precision, bytes }])!)} of memory in a browser`;
}

/** Returns a line that describes a file; none if there is no such file. */
function describeFile(path: string, size: Awaited<ReturnType<SizeOf>>, precision?: Precision): readonly string[] {
  if (size === undefined) return [];
  const bytes = size === 'unknown' ? 'its size is unknown' : formatBytes(size);
  return [`${path}: ${precision ? `${precision}, ` : ''}${bytes}`];
}

/** Requests a file, or asks for its size. */
const REQUEST = globalThis.fetch as RequestUrl;

/** Returns a line with the number of a part's labels and the file that they come from; none if it has no labels. */
async function countLabels({ archive }: Part, found: ReadonlySet<string>): Promise<readonly string[]> {
  const { files, root = '' } = archive;
  const labels = files[LABELS];
  if (!labels) return [];
  const count = Object.keys(parseJson(await readText(labels, LABELS, MAX_TEXT_BYTES), LABELS) as object).length;
  const isRepository = found.has(root + HF_CONFIG) && !found.has(root + MANIFEST);
  return [`${count}, from ${isRepository ? HF_CONFIG : LABELS}`];
}

/** Returns a part's config as JSON. In a workflow, a part without a config has no line. */
function describeConfig({ node, archive }: Part): readonly string[] {
  const { engine, ...config } = archive.config;
  const text = JSON.stringify({ ...config, ...(engine && Object.keys(engine).length > 0 && { engine }) });
  return text === '{}' && (node !== '' || archive.nodes) ? [] : [text];
}

/** Reads an archive without its models. If the handler does not exist, says so, and reads the files nevertheless. */
async function readArchive(
  from: ArchiveLocation,
  found: Set<string>,
): Promise<{ readonly archive: Archive; readonly unknown?: string }> {
  const options = { fetch: globalThis.fetch, handlerClass: loadHandler, found };
  let uncompared: Error | undefined;
  try {
    const archive = await fetchWorkflow(from, options);
    const { handler } = archive.manifest.model;
    uncompared = uncomparedClass(archive);
    if (handler !== undefined || !archive.nodes) await loadHandler(handler);
    return { archive };
  } catch (cause) {
    const error = uncompared ?? cause;
    if (!(error instanceof TabServeError) || error.code !== 'unknown-handler') throw error;
    const likely = error instanceof UncomparedClass ? error.likely : undefined;
    const archive = await fetchWorkflow(from, { ...options, handler: likely ?? 'base_handler' });
    const message = await findHandler(error, archive, REQUEST).then(
      () => error.message,
      (unknown: unknown) => messageOf(unknown),
    );
    return { archive, unknown: withToolAdvice(message) };
  }
}
