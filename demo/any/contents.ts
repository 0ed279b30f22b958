/** What a repository or a folder has, before its models are downloaded. */
import type { ModelLocation } from '../../src/index.js';
import { hubFiles, HUB_ORIGINS } from '../writing/hub.js';

/** A model's file, with its external data. */
interface ModelFile {
  readonly path: string;
  readonly bytes: number;
}

export interface Contents {
  readonly name: string;
  /** What `load` takes. */
  readonly model: ModelLocation;
  readonly allowedOrigins: readonly string[];
  /** The class that its `config.json` names; undefined for an archive. */
  readonly architecture: string | undefined;
  readonly models: readonly ModelFile[];
  /** Bytes of all other files that may be needed. */
  readonly beside: number;
}

interface Listed {
  readonly path: string;
  readonly size: number;
}

/** Asks huggingface.co what a repository has. @throws what the visitor can do about it */
export async function hubContents(repository: string, signal: AbortSignal): Promise<Contents> {
  const files = await hubFiles(repository, signal);
  const config = await fetch(`https://huggingface.co/${repository}/resolve/main/config.json`, { signal });
  return {
    name: repository,
    model: `https://huggingface.co/${repository}`,
    allowedOrigins: HUB_ORIGINS,
    architecture: config.ok ? architectureOf(await config.text()) : undefined,
    ...sorted(files),
  };
}

/** Reads what a folder has that the visitor has picked. */
export async function folderContents(files: FileList): Promise<Contents> {
  const all = [...files];
  const config = all.find(({ webkitRelativePath: path }) => /^[^/]*\/config\.json$/.test(path));
  const folder = all[0]!.webkitRelativePath.split('/')[0]!;
  return {
    name: folder,
    model: files,
    allowedOrigins: [],
    architecture: config && architectureOf(await config.text()),
    ...sorted(all.map(({ webkitRelativePath, size }) => ({ path: webkitRelativePath.slice(folder.length + 1), size }))),
  };
}

function sorted(files: readonly Listed[]): Pick<Contents, 'models' | 'beside'> {
  const models = files
    .filter(({ path }) => /\.onnx$|(^|\/)model\.json$/.test(path))
    .map(({ path, size }) => {
      const data = files.filter((one) => one.path.startsWith(`${path}_data`));
      return { path, bytes: data.reduce((sum, one) => sum + one.size, size) };
    });
  const beside = files.filter(
    ({ path }) => /(\.(json|txt|yaml|jinja)|\.safetensors)$/.test(path) && !path.includes('/'),
  );
  return { models, beside: beside.reduce((sum, { size }) => sum + size, 0) };
}

function architectureOf(config: string): string | undefined {
  try {
    const { architectures } = JSON.parse(config) as { architectures?: readonly unknown[] };
    return typeof architectures?.[0] === 'string' ? architectures[0] : undefined;
  } catch {
    return undefined;
  }
}
