import { stat } from 'node:fs/promises';
import { basename, isAbsolute, relative, resolve } from 'node:path';
import type { Archive } from '../../../contract/archive.js';
import { archiveFor, enginesOf, partsOf, type Part } from '../../../contract/archive-parts.js';
import { messageOf, TabServeError } from '../../../contract/errors.js';
import { AGREEMENTS } from '../../../contract/precisions.js';
import { loadHandler } from '../../../worker/handlers/registry.js';
import { fetchWorkflow } from '../../../worker/models/fetch.js';
import { MANIFEST } from '../../../worker/models/manifest.js';
import { formatOf } from '../../../shared/model-url.js';
import type { ArchiveFiles } from '../archive-files.js';
import { readModels } from '../check.js';
import { wrongFlag } from '../flags.js';
import { asBlobs, folderName, readAllFiles } from '../local-archive.js';
import { openLocally } from '../local-model.js';
import { formatBytes, formatCount } from '../text.js';
import { checkApart, checkTarget, formatOfArchive, writeArchive } from '../write-archive.js';
import { change, type ChangeOptions } from './change-archive.js';
import { shrinkPart, type SmallerPart } from './shrink-part.js';
import { SMALL_WEIGHTS, type SmallWeights } from './small-weights.js';

/** The flags of `tabserve optimize`. */
export interface OptimizeFlags {
  readonly output?: string | undefined;
  readonly weights?: string | undefined;
  readonly keep?: boolean | undefined;
  readonly agreement?: string | undefined;
  readonly force?: boolean | undefined;
}

/**
 * Writes an archive with smaller weights, if its golden examples are still reproduced under Node: float16, or 8 bits.
 * Inputs and outputs of the model stay the same.
 * @param path of a packed archive or a folder
 * @param print called with each line of the report
 * @returns the path of the new archive
 * @throws `backend-wrong` if the new weights are out of tolerance; `model-config` for a wrong flag, and for an archive
 *   without golden examples; `unsupported` if it has no float32 weights; what is wrong with the archive. Then nothing
 *   is written
 */
export async function optimize(path: string, flags: OptimizeFlags, print: (line: string) => void): Promise<string> {
  const weights = choice('weights', flags.weights ?? 'float16', SMALL_WEIGHTS);
  const agreement = flags.agreement === undefined ? undefined : choice('agreement', flags.agreement, AGREEMENTS);
  if (agreement !== undefined && weights !== 'int8')
    throw new TabServeError(
      'model-config',
      '--agreement goes with --weights int8: float16 weights must be within the tolerance.',
    );
  if (flags.output === '') throw wrongFlag('output', 'a path', flags.output);
  const target = flags.output ?? nameBeside(path, weights);
  const format = formatOfArchive(target);
  await checkApart(path, target);
  await checkTarget(target, format, flags.force === true);
  const files = await readArchiveFiles(path);
  const archive = await fetchWorkflow(asBlobs(files, folderName(path)), {
    fetch: globalThis.fetch,
    handlerClass: loadHandler,
  });
  const options = { weights, keep: flags.keep === true, agreement };
  const before = await tryModels(archive);
  const parts = enginesOf(archive).flatMap((engine) =>
    partsOf(archiveFor(archive, engine)).map((part) => shrinkPart(part, engine, files, options)),
  );
  if (parts.every(({ converted }) => converted === 0))
    throw new TabServeError(
      'unsupported',
      `${basename(path)} has no float32 weights of 128 elements or more that could be ${weights}: nothing is written. tabserve inspect lists the weights of a model file.`,
    );
  const smaller = parts.filter(({ converted }) => converted > 0);
  const changed = change(files, smaller, options);
  const after = await tryChanged(path, changed, options);
  for (const line of report(parts, before, after)) print(line);
  if (options.keep && format !== 'no-archive')
    print(
      'A packed archive is one download, with all its precisions: for a device to download one of them, write a folder.',
    );
  await writeArchive(target, format, changed, async () => {});
  return target;
}

function choice<T extends string>(flag: string, value: string, allowed: readonly T[]): T {
  if ((allowed as readonly string[]).includes(value)) return value as T;
  throw wrongFlag(flag, allowed.join(' or '), value);
}

/** Returns the name of the smaller archive: `models/digits.mar` → `models/digits-float16.mar`. */
function nameBeside(path: string, weights: SmallWeights): string {
  const [, name, ending = ''] = /^(.*?)(\.mar|\.zip|\.tar\.gz|\.tgz)?$/is.exec(resolve(path))!;
  const target = `${name}-${weights}${ending.toLowerCase() === '.tgz' ? '.tar.gz' : ending}`;
  return isAbsolute(path) ? target : relative('', target);
}

async function readArchiveFiles(path: string): Promise<ArchiveFiles> {
  if ((await stat(path).catch(() => undefined))?.isFile() && formatOf(path) !== undefined)
    throw new TabServeError(
      'model-format',
      `${basename(path)} is a model, not an archive, and an archive's golden examples say whether smaller weights are right. Pack it with npx tabserve archive --golden.`,
    );
  const files = await readAllFiles(path);
  if (files.has(MANIFEST)) return files;
  throw new TabServeError(
    'model-format',
    `${basename(path)} has no ${MANIFEST}. Pack it with npx tabserve archive, which takes a model file or a folder of Hugging Face's layout, and makes golden examples.`,
  );
}

/**
 * Opens the archive's models under Node, in each format, and proves them by their golden examples.
 * @param weights those that are wanted of a model's alternatives
 * @returns the largest difference, by the model's path
 * @throws `model-config` without golden examples; `backend-wrong`
 */
async function tryModels(archive: Archive, weights?: SmallWeights): Promise<ReadonlyMap<string, number>> {
  const errors = new Map<string, number>();
  for (const engine of enginesOf(archive)) {
    const loaded = await readModels(archive, engine, weights && `${weights}-weights`);
    for (const part of partsOf(archiveFor(loaded, engine))) checkExamples(part);
    await using model = await openLocally(loaded, engine);
    for (const { model: path, tried } of model.tried) errors.set(path, tried.error);
  }
  return errors;
}

function checkExamples({ node, archive }: Part): void {
  if (archive.golden.length > 0) return;
  const whose = node === '' ? 'The archive' : `Node "${node}"`;
  throw new TabServeError(
    'model-config',
    `${whose} has no golden examples, so nothing says whether smaller weights are right. Make it with npx tabserve archive --golden, from inputs to which the model has clear answers.`,
  );
}

/** @throws `backend-wrong` */
async function tryChanged(
  path: string,
  files: ArchiveFiles,
  { weights, keep, agreement }: ChangeOptions,
): Promise<ReadonlyMap<string, number>> {
  try {
    const archive = await fetchWorkflow(asBlobs(files, folderName(path)), {
      fetch: globalThis.fetch,
      handlerClass: loadHandler,
    });
    return await tryModels(archive, keep ? weights : undefined);
  } catch (cause) {
    if (!(cause instanceof TabServeError) || cause.code !== 'backend-wrong') throw cause;
    const advice =
      weights === 'float16'
        ? 'A model that needs more than the 11 bits of float16 stays float32.'
        : agreement === undefined
          ? 'Try --weights float16. If a classifier may differ as long as its best label is the same, add --agreement labels.'
          : 'Try --weights float16.';
    throw new TabServeError(
      'backend-wrong',
      `${weights} weights are out of tolerance. ${messageOf(cause)} ${advice} Nothing is written.`,
      { cause },
    );
  }
}

function* report(
  parts: readonly SmallerPart[],
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): Generator<string> {
  for (const { before: old, after: files, converted, unconverted } of parts) {
    const [from, to] = [[...old.keys()][0]!, [...files.keys()][0]!];
    if (converted === 0) {
      yield `${from}: stays as it is, because it has no large float32 weights`;
      continue;
    }
    const [bytes, smaller] = [sum(old), sum(files)];
    yield `${from} → ${to}: ${formatBytes(bytes)} → ${formatBytes(smaller)} (${Math.round((100 * smaller) / bytes)} %), ${formatCount(converted, 'tensor')}`;
    yield `  largest difference on the golden examples: ${after.get(to)!.toPrecision(2)}; before: ${before.get(from)!.toPrecision(2)}`;
    for (const { name, bytes: size, why } of unconverted)
      yield `  ${name} stays float32 (${formatBytes(size)}): ${why}`;
  }
}

function sum(files: ReadonlyMap<string, Uint8Array>): number {
  return [...files.values()].reduce((total, { length }) => total + length, 0);
}
