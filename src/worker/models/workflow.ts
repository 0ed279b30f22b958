/** The archives of a workflow's nodes: a script of its own, since few archives have nodes. */
import type { Archive, FileProgress } from '../../contract/archive.js';
import { allParts, type Part } from '../../contract/archive-parts.js';
import type { EngineName } from '../../contract/backends.js';
import { atNode, messageOf, TabServeError } from '../../contract/errors.js';
import { MAX_WORKFLOW_DEPTH, MAX_NODES } from '../../contract/limits.js';
import { fetchArchive, type ArchiveOptions } from './archive.js';
import { chosenForNode } from './node-precision.js';
import { mergeConfig } from './config.js';
import { isWorkflowOnly } from './torchserve.js';
import { fetchModel } from './model-files.js';
import type { FetchOptions } from './download/fetch-file.js';
import { inFolder } from './integrity.js';
import { locateNode, readNodes, type NodeEntry, type NodeLocation } from './nodes.js';
import { isPacked, readModelUrl } from '../../shared/model-url.js';
import { folderSource } from './sources/folder.js';
import type { WorkflowModelOptions } from './fetch.js';
import { localSource, unpack } from './sources/packed.js';
import { readRequired } from './sources/source.js';

/** The state of reading a workflow's nodes. */
interface Position {
  /** The workflow's path; `''` for the whole archive. */
  readonly path: string;
  /** The URLs of the archives that the workflow lies in, and its own. */
  readonly above: readonly string[];
  /** The options that the workflow's own archive was read with. */
  readonly options: ArchiveOptions;
  /** The options that the whole archive was read with, and its origin: headers and credentials are for it alone. */
  readonly whole: ArchiveOptions;
  readonly origin: string | undefined;
  /** The archives that were read, by what was asked for. */
  readonly read: Map<string, Promise<Archive>>;
  /** What was asked for the workflow's own archive; `''` for the whole archive. */
  readonly key: string;
  /** What was asked for the nodes of each archive: it waits for them. */
  readonly waits: Map<string, Set<string>>;
}

/**
 * Reads the archives of an archive's nodes.
 * @param options those that the archive was read with, and the files that were found in it
 */
export async function fetchNodes(archive: Archive, options: ArchiveOptions): Promise<Archive> {
  const { url } = archive;
  const origin = originOf(url);
  const start = { path: '', above: [url], options, whole: options, origin, read: new Map(), key: '', waits: new Map() };
  return await withNodes(archive, start);
}

function originOf(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

async function withNodes(found: Archive, position: Position): Promise<Archive> {
  const archive = withPlace(found);
  const entries = withPrecisions(readNodes(archive.config), archive);
  if (entries.length === 0) return archive;
  const folders: string[] = [];
  const nodes = await Promise.all(
    entries.map(async (entry) => {
      try {
        const location = locateNode(entry, archive);
        if (location.folder !== undefined) folders.push(location.folder);
        return [entry.name, await readNode(archive, entry, location, position)] as const;
      } catch (error) {
        throw atNode(error, entry.name);
      }
    }),
  );
  // The hashes of files in the folder of a node are checked there.
  const unmatched = archive.unmatched?.filter((path) => !folders.some((folder) => path.startsWith(folder)));
  return { ...archive, nodes: { ...archive.nodes, ...Object.fromEntries(nodes) }, ...(unmatched && { unmatched }) };
}

/** Returns an archive whose reader has found nodes in its folder, which then know the folder's files and hashes. */
function withPlace(archive: Archive): Archive {
  const { nodes, integrity, unmatched = [], local, root = '' } = archive;
  if (!nodes) return archive;
  const isOf = ({ alternatives = [] }: Archive, path: string): boolean =>
    alternatives.some((file) => path.startsWith(file.path));
  const placed = Object.entries(nodes).map(([name, node]) => {
    const own = unmatched.filter((path) => isOf(node, path));
    return [name, { ...node, integrity, unmatched: own, local, root }] as const;
  });
  const others = unmatched.filter((path) => !Object.values(nodes).some((node) => isOf(node, path)));
  return { ...archive, unmatched: others, nodes: Object.fromEntries(placed) };
}

/**
 * Returns nodes with the precisions that `engine.dtype` of a workflow without a model of its own chooses for them. What
 * `nodes` says of one node overrides a precision for all.
 */
function withPrecisions(entries: readonly NodeEntry[], archive: Archive): readonly NodeEntry[] {
  if (!isWorkflowOnly(archive)) return entries;
  const names = entries.map(({ name }) => name);
  const isForAll = typeof archive.config.engine?.dtype === 'string';
  return entries.map((entry) => {
    const dtype = chosenForNode(archive.config, entry.name, names);
    if (dtype === undefined) return entry;
    const [own, chosen] = [entry.config ?? {}, { engine: { dtype } }];
    return { ...entry, config: isForAll ? mergeConfig(chosen, own) : mergeConfig(own, chosen) };
  });
}

async function readNode(
  workflow: Archive,
  entry: NodeEntry,
  location: NodeLocation,
  position: Position,
): Promise<Archive> {
  const { path, above, options, whole, origin, read, key: parent, waits } = position;
  const { url } = location;
  const { name, handler, config } = entry;
  if (above.includes(url)) throw circle(name, [...above.slice(above.indexOf(url)), url]);
  if (above.length > MAX_WORKFLOW_DEPTH) throw tooDeep(name);
  const key = keyOf(url, entry);
  // Another node may be reading an archive that this one lies in: then each would wait for the other.
  if (leadsTo(key, parent, waits)) throw circle(name, [above.at(-1)!, url, above.at(-1)!]);
  waits.set(parent, (waits.get(parent) ?? new Set()).add(key));
  const known = read.get(key);
  if (known) {
    const shared = await known;
    if (above.length + depthOf(shared) > MAX_WORKFLOW_DEPTH) throw tooDeep(name);
    return shared;
  }
  if (read.size === MAX_NODES)
    throw new TabServeError('model-config', `nodes.${name}: a workflow may have ${MAX_NODES} nodes.`);
  const own = path === '' ? name : `${path}/${name}`;
  if (location.folder === undefined && originOf(url) !== origin) checkOrigin(new URL(url).origin, name, path, whole);
  const reading = (async () => {
    const inside = location.folder !== undefined && !(location.file !== undefined && isPacked(location.file));
    const placed = inside ? options : outside(whole, own, originOf(url) === origin);
    const archive = await readLocation(workflow, location, options, { ...placed, config, handler });
    const named = handler === undefined ? archive : withHandler(archive, handler);
    return await withNodes(named, { ...position, path: own, above: [...above, url], options: placed, key });
  })();
  read.set(key, reading);
  return await reading;
}

/** Returns how many workflows lie in one another below an archive. */
function depthOf({ nodes = {} }: Archive): number {
  return Math.max(0, ...Array.from(new Set(Object.values(nodes)), (node) => 1 + depthOf(node)));
}

function tooDeep(name: string): TabServeError {
  return new TabServeError(
    'model-config',
    `nodes.${name}: at most ${MAX_WORKFLOW_DEPTH} workflows may lie in one another.`,
  );
}

/**
 * Returns the location and options of an archive as a text.
 * @throws `model-config` for a config that is no JSON, which only the app's can be
 */
function keyOf(url: string, { name, handler, config }: NodeEntry): string {
  try {
    return JSON.stringify([url, handler, config]);
  } catch (cause) {
    throw new TabServeError(
      'model-config',
      `nodes.${name}.config: expected what JSON can hold. ${messageOf(cause as Error)}`,
      { cause },
    );
  }
}

function circle(name: string, urls: readonly string[]): TabServeError {
  return new TabServeError(
    'model-config',
    `nodes.${name} names an archive that it lies in itself: ${urls.join(' → ')}.`,
  );
}

/** Returns whether one archive waits for another, itself or through its nodes. */
function leadsTo(from: string, to: string, waits: Position['waits'], seen = new Set<string>()): boolean {
  if (from === to) return true;
  if (seen.has(from)) return false;
  seen.add(from);
  return [...(waits.get(from) ?? [])].some((next) => leadsTo(next, to, waits, seen));
}

function withHandler(archive: Archive, handler: string): Archive {
  return { ...archive, manifest: { ...archive.manifest, model: { ...archive.manifest.model, handler } } };
}

/** @param options those of the workflow @param own those for the node's own archive */
async function readLocation(
  workflow: Archive,
  location: NodeLocation,
  options: ArchiveOptions,
  own: ArchiveOptions,
): Promise<Archive> {
  const { url } = location;
  if (location.folder === undefined) return await fetchArchive(url, own);
  const { folder, file } = location;
  const { local } = workflow;
  const before = workflow.root ?? '';
  const root = before + folder;
  // What is expected of the node's files, by their paths in the whole archive.
  const integrity = Object.fromEntries(
    Object.entries(workflow.integrity).map(([path, entry]) => [before + path, entry]),
  );
  if (file !== undefined && isPacked(file)) {
    const source = local ? await localSource(url, local, {}, root) : folderSource(readModelUrl(url), options, root);
    const packed = await readRequired(source, file, inFolder(workflow.integrity, folder));
    options.found?.add(root + file);
    return await fetchArchive({ part: { url, local: await unpack(file, packed), file: undefined } }, own);
  }
  const archive = await fetchArchive(local ? { part: { url, local, file } } : url, { ...own, integrity, root });
  // The folder of a model without an archive of its own has other files of the workflow.
  return file === undefined ? archive : { ...archive, unmatched: [] };
}

/** @throws `unsupported` for an origin that neither the app's config nor `allowedOrigins` names */
function checkOrigin(origin: string, name: string, path: string, { config, allowedOrigins }: ArchiveOptions): void {
  const isNamedByApp = path === '' && config?.nodes !== undefined && Object.hasOwn(config.nodes, name);
  if (isNamedByApp || allowedOrigins?.includes(origin)) return;
  throw new TabServeError(
    'unsupported',
    `Its archive is at ${origin}, an origin that the app has not named. Name it in the option "allowedOrigins"; the tool tabserve reads only nodes that lie in the archive.`,
  );
}

/** Returns the options for an archive that does not lie in its workflow's. */
function outside<Options extends FetchOptions>(options: Options, path: string, isSameOrigin: boolean): Options {
  const { found: _, integrity: __, headers, credentials, onProgress, ...others } = options;
  return {
    ...others,
    ...(isSameOrigin && { headers, credentials }),
    onProgress:
      onProgress && ((progress: FileProgress) => onProgress({ ...progress, file: `${path}/${progress.file}` })),
  } as Options;
}

/** Downloads the models of an archive and of its nodes: see `fetchWorkflowModels`. */
export async function fetchNodeModels(
  whole: Archive,
  engine: EngineName,
  { precisions = {}, ...options }: WorkflowModelOptions,
  onPlanned: () => void,
): Promise<Archive> {
  const stop = new AbortController();
  const signal = AbortSignal.any([stop.signal, ...(options.signal ? [options.signal] : [])]);
  const parts = allParts(whole);
  let unplanned = parts.length;
  const loaded = new Map<Archive, Archive>();
  const origin = originOf(whole.url);
  const load = async (part: Part): Promise<void> => {
    const { node, archive } = part;
    const own = { ...optionsFor(part, origin, { ...options, signal }), precisions: precisions[node] };
    try {
      loaded.set(archive, await fetchModel(archive, engine, own, () => --unplanned === 0 && onPlanned()));
    } catch (error) {
      throw node === '' ? error : atNode(error, node);
    }
  };
  await Promise.all(parts.map(load)).catch((error: unknown) => {
    stop.abort();
    throw error;
  });
  return rebuild(whole, loaded);
}

/** Returns an archive with each of its parts replaced; the archive itself if nothing has changed. */
function rebuild(archive: Archive, loaded: ReadonlyMap<Archive, Archive>, done = new Map<Archive, Archive>()): Archive {
  const known = done.get(archive);
  if (known) return known;
  const own = loaded.get(archive)!;
  const nodes = Object.entries(archive.nodes ?? {}).map(([name, node]) => [name, rebuild(node, loaded, done)] as const);
  const isSame = own === archive && nodes.every(([name, node]) => archive.nodes![name] === node);
  const rebuilt = isSame || nodes.length === 0 ? own : { ...own, nodes: Object.fromEntries(nodes) };
  done.set(archive, rebuilt);
  return rebuilt;
}

/** Returns the options for a part's files. Its origin was checked when its archive was read. */
function optionsFor({ archive, prefix }: Part, origin: string | undefined, options: FetchOptions): FetchOptions {
  if (prefix === '') return options;
  return outside(options, prefix.slice(0, -1), originOf(archive.url) === origin);
}
