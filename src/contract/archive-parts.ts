/** An archive as one engine sees it, and its parts that have models: a workflow has one in each of its nodes. */
import type { Archive } from './archive.js';
import { formatOfEngine, MODEL_FORMATS, type EngineName, type ModelFormat } from './backends.js';
import type { ModelFile, Precision } from './precisions.js';

/** Returns the precision of the archive's model for an engine; undefined if it has no alternatives. */
export function precisionOf(archive: Archive, engine: EngineName): Precision | undefined {
  return chosenFile(archive, formatOfEngine(engine))?.precision;
}

function chosenFile({ alternatives, models }: Archive, format: ModelFormat | undefined): ModelFile | undefined {
  return format && alternatives?.find(({ path }) => path === models[format]);
}

/**
 * Returns the archive and those of its nodes as one engine sees them, with the config, the golden examples and the
 * precision of its model.
 */
export function archiveFor(archive: Archive, engine: EngineName): Archive {
  const format = formatOfEngine(engine);
  if (format === undefined) return archive;
  return mapNodes(archive, (one) => {
    const { precision, agreement } = chosenFile(one, format) ?? {};
    return { ...one, ...one.variants?.[format], ...(precision && { precision }), ...(agreement && { agreement }) };
  });
}

/** Changes an archive and those of its nodes. An archive that several nodes share is changed once. */
function mapNodes(archive: Archive, change: (one: Archive) => Archive, done = new Map<Archive, Archive>()): Archive {
  const known = done.get(archive);
  if (known) return known;
  const nodes = Object.entries(archive.nodes ?? {}).map(
    ([name, node]) => [name, mapNodes(node, change, done)] as const,
  );
  const changed = { ...change(archive), ...(archive.nodes && { nodes: Object.fromEntries(nodes) }) };
  done.set(archive, changed);
  return changed;
}

/** An archive with a model: a model archive itself, or a workflow's node. */
export interface Part {
  /** The node, by its path in the workflow, such as `detect` or `reader/detect`; `''` for the archive itself. */
  readonly node: string;
  readonly archive: Archive;
  /** The prefix of its files' names in progress: for a part that lies outside of the whole archive, its node's path. */
  readonly prefix: string;
}

/**
 * Returns the archives that have a model, here or on a server: the archive itself, if it does, and those of its nodes.
 * An archive that several nodes share is listed once.
 */
export function partsOf(archive: Archive): readonly Part[] {
  return allParts(archive).filter((part) => hasModel(part.archive));
}

/** Returns whether an archive has a model of its own, here or on a server. Only a workflow may have none. */
export function hasModel({ nodes, models }: Pick<Archive, 'nodes' | 'models'>): boolean {
  return nodes === undefined || Object.keys(models).length > 0;
}

/**
 * Returns an archive and those of its nodes, also without a model. An archive that several nodes share is listed once.
 */
export function allParts(archive: Archive): readonly Part[] {
  const parts = new Map<Archive, Part>();
  const add = (node: string, one: Archive, prefix: string): void => {
    if (parts.has(one)) return;
    parts.set(one, { node, archive: one, prefix });
    for (const [name, child] of Object.entries(one.nodes ?? {})) {
      const path = node === '' ? name : `${node}/${name}`;
      add(path, child, child.root === undefined ? `${path}/` : prefix);
    }
  };
  add('', archive, '');
  return [...parts.values()];
}

/** Returns the formats in which every part of an archive has its model: the engines that can run it here. */
export function enginesOf(archive: Archive): readonly ModelFormat[] {
  return MODEL_FORMATS.filter((format) => partsOf(archive).every((part) => part.archive.models[format] !== undefined));
}

/**
 * Returns the name under which the progress of a part's file is reported: its path in the whole archive, if it lies in
 * it.
 */
export function fileName({ prefix, archive: { root = '' } }: Part, path: string): string {
  return prefix + root + path;
}
