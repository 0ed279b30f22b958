import { basename } from 'node:path';
import type { Archive } from '../../contract/archive.js';
import { allParts, enginesOf, fileName, partsOf } from '../../contract/archive-parts.js';
import type { EngineName, ModelFormat } from '../../contract/backends.js';
import { TabServeError } from '../../contract/errors.js';
import type { Precision } from '../../contract/precisions.js';
import { formatOf } from '../../shared/model-url.js';
import type { ArchiveLocation, ArchiveOptions } from '../../worker/models/archive.js';
import { loadHandler } from '../../worker/handlers/registry.js';
import { fetchWorkflow, fetchWorkflowModels } from '../../worker/models/fetch.js';
import type { ArchiveFiles } from './archive-files.js';
import { asBlobs, checkNamesHandler, locate } from './local-archive.js';
import { openLocally } from './local-model.js';
import { formatCount } from './text.js';

/** Nothing is downloaded, because every file is local. */
const OPTIONS = { fetch: globalThis.fetch, handlerClass: loadHandler };

/** What the caller has chosen, over what the archive says. */
type Chosen = Pick<ArchiveOptions, 'handler' | 'config'>;

/** Reads a local archive as the browser reads it, with the model of one format. */
async function readWith(from: ArchiveLocation, chosen: Chosen = {}, engine?: EngineName): Promise<Archive> {
  const archive = await fetchWorkflow(from, { ...OPTIONS, ...chosen });
  const format = engine ?? enginesOf(archive)[0]!;
  return await fetchWorkflowModels(archive, format, OPTIONS);
}

/** Reads the models of a local archive. @param precision of each model that has alternatives */
export async function readModels(archive: Archive, engine: ModelFormat, precision?: Precision): Promise<Archive> {
  const wanted = partsOf(archive).flatMap(({ node, archive: { alternatives = [] } }) => {
    const has = alternatives.some((one) => one.precision === precision && formatOf(one.path) === engine);
    return precision && has ? [[node, [precision]] as const] : [];
  });
  return await fetchWorkflowModels(archive, engine, { ...OPTIONS, precisions: Object.fromEntries(wanted) });
}

/** Returns each format that an archive can be run in, and each precision in which it has its model there. */
function variantsOf(archive: Archive): readonly (readonly [ModelFormat, Precision | undefined])[] {
  return enginesOf(archive).flatMap((engine) => {
    const files = partsOf(archive).flatMap(
      (part) => (part.archive.golden.length > 0 ? part.archive.alternatives : undefined) ?? [],
    );
    const precisions = new Set(files.filter(({ path }) => formatOf(path) === engine).map(({ precision }) => precision));
    const all = precisions.size === 0 ? [undefined] : [...precisions];
    return all.map((precision) => [engine, precision] as const);
  });
}

/**
 * Reads an archive from its files, as the browser reads it.
 * @param folder the name of their folder, which may say what a language model is for
 * @throws what `fetchWorkflow` throws
 */
export async function readArchive(files: ArchiveFiles, chosen?: Chosen, folder?: string): Promise<Archive> {
  return await readWith(asBlobs(files, folder), chosen);
}

/**
 * Checks an archive: its layout, config and labels, the size and hash of each file, and in each format that the model
 * opens under Node and reproduces the golden examples.
 * @param path of a packed archive or a folder
 * @returns what was checked, a line each
 * @throws what is wrong
 */
export async function checkArchive(path: string): Promise<string> {
  const from = await locate(path);
  const first = await fetchWorkflow(from, OPTIONS);
  checkNamesHandler(first, path);
  const lines = [
    `${basename(path)}: ${first.manifest.model.modelName}, ${first.manifest.model.handler ?? 'no handler'}`,
  ];
  for (const [engine, precision] of variantsOf(first)) {
    const archive = await readModels(first, engine, precision);
    await using model = await openLocally(archive, engine);
    if (model.warnings.length > 0) throw new TabServeError('model-config', describeWarnings(model.warnings));
    for (const { model: path, tried } of model.tried) {
      const { golden, error } = tried;
      lines.push(
        `  ${path}: opens under Node; ${golden > 0 ? `${formatCount(golden, 'golden example')} reproduced, largest difference ${error.toPrecision(2)}` : 'no golden examples'}`,
      );
    }
  }
  if (enginesOf(first).length === 0 && first.config.engine?.remote !== undefined)
    lines.push('  no model file: the model is on a server, which was not asked');
  const hashed = new Set(
    allParts(first).flatMap((part) =>
      Object.entries(part.archive.integrity).flatMap(([path, { sha256 }]) =>
        sha256 === undefined ? [] : [fileName(part, path)],
      ),
    ),
  ).size;
  lines.push(`  with a SHA-256: ${formatCount(hashed, 'file')}`);
  return lines.join('\n');
}

/** Joins the warnings. A key may be one of a handler's own class, which only the app has. */
function describeWarnings(warnings: readonly string[]): string {
  const hasUnknownKey = warnings.some((warning) => /^handler\..* known keys?\.$/.test(warning));
  const advice = 'If a handler of your own adds it, leave out --check, which knows only the keys of built-in handlers.';
  return [...warnings, ...(hasUnknownKey ? [advice] : [])].join('\n');
}
