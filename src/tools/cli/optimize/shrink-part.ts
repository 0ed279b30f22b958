import { basename } from 'node:path';
import type { Part } from '../../../contract/archive-parts.js';
import type { ModelFormat } from '../../../contract/backends.js';
import { TabServeError } from '../../../contract/errors.js';
import { formatOf } from '../../../shared/model-url.js';
import { besideModel } from '../../../worker/models/onnx/external-data.js';
import { weightFiles } from '../archive.js';
import type { ArchiveFiles } from '../archive-files.js';
import { shrinkOnnx, type Unconverted } from './onnx-weights.js';
import type { SmallWeights } from './small-weights.js';
import { shrinkTensorFlow } from './tfjs-weights.js';

/** A model of an archive with smaller weights. Paths are in the whole archive. */
export interface SmallerPart {
  /** The folder of the part's archive: `''`, or a path with a slash at the end. */
  readonly root: string;
  readonly format: ModelFormat;
  /** The model, and the files with its weights. */
  readonly before: ReadonlyMap<string, Uint8Array>;
  readonly after: ReadonlyMap<string, Uint8Array>;
  /** The model's files in other precisions. */
  readonly alternatives: readonly string[];
  /** How many tensors were converted; 0 if the model stays as it is. */
  readonly converted: number;
  readonly unconverted: readonly Unconverted[];
}

/**
 * Makes the weights of one model of an archive smaller. The new files have the names of the old ones, with the kind of
 * the weights: `digits-float16.onnx`.
 * @throws `unsupported` for a node whose files do not lie in the archive; `model-config` if the archive has another
 *   file of a new one's name; what `shrinkOnnx` and `shrinkTensorFlow` throw
 */
export function shrinkPart(
  { node, archive }: Part,
  format: ModelFormat,
  files: ArchiveFiles,
  { weights, keep }: { readonly weights: SmallWeights; readonly keep: boolean },
): SmallerPart {
  const root = node === '' ? '' : archive.root;
  if (root === undefined)
    throw new TabServeError(
      'unsupported',
      `Node "${node}" is a packed archive, or lies elsewhere. Optimize it by itself, or put its files in a folder of the workflow's archive.`,
    );
  const path = archive.models[format]!;
  const model = files.get(root + path)!;
  const rename = (one: string): string => one.replace(/(\.\w+)?$/, `-${weights}$1`);
  const weightsOf = (one: string): readonly string[] => weightFiles(basename(one), files.get(root + one)!);
  /** Returns the path of a file that a model names: it is in the model's folder. */
  const beside = (name: string): string => root + besideModel(path, name);
  const own = new Map(weightsOf(path).map((name) => [name, files.get(beside(name))!] as const));
  const others = (archive.alternatives ?? [])
    .map((one) => one.path)
    .filter((one) => formatOf(one) === format && one !== path && files.has(root + one));
  const part = {
    root,
    format,
    before: named(root + path, model, own, beside),
    alternatives: others
      .flatMap((one) => [one, ...weightsOf(one).map((name) => besideModel(one, name))])
      .map((one) => root + one),
  };
  if (format === 'onnx') {
    const { model: smaller, external, ...result } = shrinkOnnx(model, { weights, external: own, rename });
    return checked({ ...part, after: named(root + rename(path), smaller, external, beside), ...result });
  }
  const { json, shards, ...result } = shrinkTensorFlow(new TextDecoder().decode(model), own, weights, rename);
  return checked({
    ...part,
    after: named(root + rename(path), new TextEncoder().encode(json), shards, beside),
    ...result,
  });

  /** Checks that the new files replace no others, except those of an earlier optimization. */
  function checked(made: SmallerPart): SmallerPart {
    const isAgain = archive.alternatives?.some(
      (one) => one.path === rename(path) && one.precision === `${weights}-weights`,
    );
    const replaced = keep ? [] : [...made.before.keys(), ...made.alternatives];
    const taken =
      made.converted === 0 || isAgain
        ? undefined
        : [...made.after.keys()].find((one) => files.has(one) && !replaced.includes(one));
    if (taken === undefined) return made;
    throw new TabServeError(
      'model-config',
      `The archive has a file ${taken} already, which the smaller weights would replace. Give it, or the model, another name.`,
    );
  }
}

function named(
  path: string,
  model: Uint8Array,
  others: ReadonlyMap<string, Uint8Array>,
  beside: (path: string) => string,
): ReadonlyMap<string, Uint8Array> {
  return new Map([[path, model], ...[...others].map(([one, bytes]) => [beside(one), bytes] as const)]);
}
