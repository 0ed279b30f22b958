/** Fetching an archive and, if it is a workflow, those of its nodes. */
import { loadScript } from '../../shared/load-script.js';
import type { Archive } from '../../contract/archive.js';
import { partsOf } from '../../contract/archive-parts.js';
import { formatOfEngine, type EngineName } from '../../contract/backends.js';
import type { Precision } from '../../contract/precisions.js';
import { fetchArchive, type ArchiveLocation, type ArchiveOptions } from './archive.js';
import { fetchModel, hashModel, type ModelOptions } from './model-files.js';

const loadWorkflow = (): Promise<typeof import('./workflow.js')> => loadScript(() => import('./workflow.js'));

/** Options of `fetchWorkflow`. */
export type WorkflowOptions = ArchiveOptions & Required<Pick<ArchiveOptions, 'handlerClass'>>;

/**
 * Downloads what `fetchArchive` downloads, of an archive and of those of its nodes, so that all that is needed is known
 * before a backend is chosen.
 * @throws what `fetchArchive` throws, naming the node; `model-config` for nodes in a cycle, and for too many;
 *   `unsupported` for a node of an origin that the app has not named
 */
export async function fetchWorkflow(
  from: ArchiveLocation,
  { onManifest, ...options }: WorkflowOptions,
): Promise<Archive> {
  const all = { ...options, found: options.found ?? new Set<string>() };
  const archive = await fetchArchive(from, { ...all, onManifest });
  if (archive.config.nodes === undefined && !archive.nodes) return archive;
  return await (await loadWorkflow()).fetchNodes(archive, all);
}

/** Options of `fetchWorkflowModels`. */
export interface WorkflowModelOptions extends Omit<ModelOptions, 'precisions'> {
  /** By `Part.node`: see `ModelOptions`. */
  readonly precisions?: Readonly<Record<string, readonly Precision[] | undefined>> | undefined;
}

/**
 * Downloads what `fetchModel` downloads, of an archive and of those of its nodes.
 * @param onPlanned called when the progress of every file of all of them has been reported for the first time
 * @throws what `fetchModel` throws, naming the node
 */
export async function fetchWorkflowModels(
  archive: Archive,
  engine: EngineName,
  options: WorkflowModelOptions,
  onPlanned: () => void = () => {},
): Promise<Archive> {
  if (archive.nodes) return await (await loadWorkflow()).fetchNodeModels(archive, engine, options, onPlanned);
  return await fetchModel(archive, engine, { ...options, precisions: options.precisions?.[''] }, onPlanned);
}

/**
 * Returns the SHA-256 of the models of all parts, in one text; undefined in an insecure context, and for models on a
 * server.
 */
export async function hashWorkflow(archive: Archive, engine: EngineName): Promise<string | undefined> {
  const format = formatOfEngine(engine);
  if (format === undefined) return undefined;
  const hashes = await Promise.all(partsOf(archive).map((part) => hashModel(part.archive, format)));
  return hashes.includes(undefined) ? undefined : hashes.join(' ');
}
