/** What a repository or a folder has, before its models are downloaded. */
import { cache, type ModelLocation } from '../../src/index.js';
import { HUB_ENDINGS } from '../../src/contract/precisions.js';
import { Explained } from '../page/explained.js';
import { hubFiles, type Repository } from '../writing/hub.js';

/** A model's file, with its external data. */
interface ModelFile {
  readonly path: string;
  readonly bytes: number;
  /** Whether an earlier visit has left it on this device. */
  readonly isCached: boolean;
}

export interface Contents {
  readonly name: string;
  /** Whether it is downloaded from huggingface.co. */
  readonly isRemote: boolean;
  /** What `load` takes. */
  readonly model: ModelLocation;
  /** The class that its `config.json` names; undefined for an archive. */
  readonly architecture: string | undefined;
  readonly models: readonly ModelFile[];
  /** Bytes of all other files that may be needed. */
  readonly beside: number;
}

/** A precision that a visitor can choose, and the most bytes that are then downloaded. */
interface PrecisionChoice {
  readonly dtype: string;
  readonly bytes: number;
}

const CONFIG = 'config.json';

/** Those of published models have at most some hundred kB. */
const MAX_CONFIG_BYTES = 10_000_000;

interface Listed {
  readonly path: string;
  readonly size: number;
}

/** Asks huggingface.co what a repository has. @throws what the visitor can do about it */
export async function hubContents(repository: Repository, signal: AbortSignal): Promise<Contents> {
  const listed = await hubFiles(repository, signal);
  const files = listed.map(({ path, bytes }) => ({ path, size: bytes }));
  const { name, revision, folder: below } = repository.repository;
  const folder = `https://huggingface.co/${name}/resolve/${revision}/${below}`;
  const config = files.find(({ path }) => path === CONFIG);
  const cached = new Set((await cache.list().catch(() => [])).map(({ url }) => url));
  return {
    name: repository.path,
    isRemote: true,
    model: `https://huggingface.co/${repository.path}`,
    architecture: config && (await architectureOf(config.size, () => fetch(folder + CONFIG, { signal }))),
    ...sorted(files, (path) => cached.has(folder + path)),
  };
}

/** Reads what a folder has that the visitor has picked or dropped. @throws what the visitor can do about it */
export async function folderContents(files: readonly File[]): Promise<Contents> {
  const [first] = files;
  if (!first) throw new Explained('The folder is empty. Choose one with a model in ONNX or of TensorFlow.js.');
  const config = files.find(({ webkitRelativePath: path }) => /^[^/]*\/config\.json$/.test(path));
  const folder = first.webkitRelativePath.split('/')[0]!;
  return {
    name: folder,
    isRemote: false,
    model: files,
    architecture: config && (await architectureOf(config.size, () => config)),
    ...sorted(
      files.map(({ webkitRelativePath, size }) => ({ path: webkitRelativePath.slice(folder.length + 1), size })),
      () => false,
    ),
  };
}

/** Returns the files of a folder that was dropped, with their paths, as a picked folder has them. */
export async function droppedFiles(folder: FileSystemDirectoryEntry): Promise<readonly File[]> {
  const reader = folder.createReader();
  const files: File[] = [];
  for (;;) {
    // A browser returns at most 100 entries at once.
    const entries = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (entries.length === 0) return files;
    for (const entry of entries) {
      if (entry.isDirectory)
        // One by one: a call with as many arguments as a folder may have files overflows the stack.
        for (const file of await droppedFiles(entry as FileSystemDirectoryEntry)) files.push(file);
      else {
        const file = await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed));
        files.push(Object.defineProperty(file, 'webkitRelativePath', { value: entry.fullPath.slice(1) }));
      }
    }
  }
}

/** Returns the precisions in which a task's models are there, the smallest first. */
export function precisionsOf(
  { models, beside }: Contents,
  parts: readonly string[] | undefined,
): readonly PrecisionChoice[] {
  return Object.entries(HUB_ENDINGS)
    .flatMap(([dtype, endings]) => {
      const all = models.filter(({ path }) => endings.some((ending) => stemOf(path)?.ending === ending));
      const whole = all.filter(({ path }) => stemOf(path)!.name === 'model');
      const needed = parts
        ? all.filter(({ path }) => parts.includes(stemOf(path)!.name))
        : whole.length > 0
          ? whole
          : all;
      if (needed.length === 0) return [];
      return [{ dtype, bytes: needed.reduce((sum, { bytes }) => sum + bytes, beside) }];
    })
    .toSorted((a, b) => a.bytes - b.bytes);
}

/** Returns the name and the precision's ending of a model's path: `model` and `_q4` of `onnx/model_q4.onnx`. */
function stemOf(path: string): { readonly name: string; readonly ending: string } | undefined {
  const [, name, ending = ''] = /([^/]*?)(_fp16|_quantized|[_.]int8|_uint8|_q4f16|_q4|_bnb4)?\.onnx$/.exec(path) ?? [];
  return name === undefined ? undefined : { name, ending };
}

/** @param isCached whether a file is on this device already */
function sorted(files: readonly Listed[], isCached: (path: string) => boolean): Pick<Contents, 'models' | 'beside'> {
  const models = files
    .filter(({ path }) => /\.onnx$|(^|\/)model\.json$/.test(path))
    .map(({ path, size }) => {
      const data = files.filter((one) => one.path.startsWith(`${path}_data`));
      return { path, bytes: data.reduce((sum, one) => sum + one.size, size), isCached: isCached(path) };
    });
  const beside = files.filter(
    ({ path }) => /(\.(json|txt|yaml|jinja)|\.safetensors)$/.test(path) && !path.includes('/'),
  );
  return { models, beside: beside.reduce((sum, { size }) => sum + size, 0) };
}

/**
 * Returns the class that a `config.json` names; undefined if it names none.
 * @param size its bytes
 * @throws that it is too large
 */
async function architectureOf(
  size: number,
  open: () => Pick<Body, 'text'> | Promise<Pick<Body, 'text'>>,
): Promise<string | undefined> {
  if (size > MAX_CONFIG_BYTES)
    throw new Explained(
      `${CONFIG} has ${size} bytes, and the limit is ${MAX_CONFIG_BYTES}: it does not describe a model.`,
    );
  const text = await (await open()).text();
  try {
    const { architectures } = JSON.parse(text) as { architectures?: readonly unknown[] };
    return typeof architectures?.[0] === 'string' ? architectures[0] : undefined;
  } catch {
    return undefined;
  }
}
