import type { Archive, Manifest, ModelConfig } from '../contract.js';
import { TabServeError } from '../errors.js';
import { mergeConfig, parseConfig } from './config.js';
import { fetchFile, type FetchOptions } from './fetch.js';

/** Formats that an engine can open, by the ending of the file's name. */
const WEIGHTS = /\.onnx$/i;
const PACKED = /\.(mar|zip|tgz|tar\.gz)$/i;

export interface ArchiveOptions extends FetchOptions {
  /** Taken over the archive's own `model-config.yaml`. */
  readonly config?: ModelConfig | undefined;
}

/**
 * Downloads a model archive: a folder with `MAR-INF/MANIFEST.json`, or bare weights (`.onnx`), for which a manifest is made.
 * @throws `model-not-found`, `model-format`, `model-config`, `network`, `aborted`
 */
export async function fetchArchive(url: string, options: ArchiveOptions): Promise<Archive> {
  const base = new URL(url);
  if (PACKED.test(base.pathname)) throw new TabServeError('unsupported', `${url}: packed archives cannot be served yet; unpack it into a folder.`);
  return WEIGHTS.test(base.pathname) ? await fetchWeights(base, options) : await fetchFolder(base, options);
}

async function fetchWeights(url: URL, options: ArchiveOptions): Promise<Archive> {
  const serializedFile = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf('/') + 1));
  const weights = await required(url, serializedFile, options);
  const manifest: Manifest = { model: { modelName: serializedFile.replace(WEIGHTS, ''), serializedFile } };
  return { url: url.href, manifest, config: options.config ?? {}, files: { [serializedFile]: weights } };
}

async function fetchFolder(url: URL, options: ArchiveOptions): Promise<Archive> {
  const base = url.pathname.endsWith('/') ? url : new URL(`${url.pathname}/${url.search}`, url);
  const manifest = await readManifest(await required(base, 'MAR-INF/MANIFEST.json', options));
  const { serializedFile, configFile, extensions } = manifest.model;
  if (!serializedFile || !WEIGHTS.test(serializedFile)) {
    throw new TabServeError('model-format', `The manifest of ${base.href} names ${serializedFile ? `"${serializedFile}"` : 'no serializedFile'}; expected a file ending in .onnx.`);
  }
  const extras = (extensions ?? '').split(',').flatMap((path) => path.trim().split('/').pop() || []);
  const wanted = new Set([serializedFile, ...(configFile ? [configFile] : []), ...extras]);
  const files: Record<string, Blob> = {};
  await Promise.all([
    ...[...wanted].map(async (path) => (files[path] = await required(base, path, options))),
    optional(base, LABELS, options).then((labels) => labels && (files[LABELS] = labels)),
  ]);
  const own = configFile ? await parseConfig(await files[configFile]!.text(), configFile) : {};
  return { url: base.href, manifest, config: mergeConfig(own, options.config ?? {}), files };
}

/** TorchServe's name for the file with the labels. */
export const LABELS = 'index_to_name.json';

async function readManifest(blob: Blob): Promise<Manifest> {
  let manifest: Partial<Manifest> | null;
  try {
    manifest = JSON.parse(await blob.text()) as Partial<Manifest> | null;
  } catch (cause) {
    throw new TabServeError('model-format', 'MAR-INF/MANIFEST.json is not JSON.', { cause });
  }
  if (typeof manifest?.model?.modelName !== 'string') throw new TabServeError('model-format', 'MAR-INF/MANIFEST.json has no model.modelName.');
  return manifest as Manifest;
}

async function required(base: URL, path: string, options: ArchiveOptions): Promise<Blob> {
  const blob = await optional(base, path, options);
  if (!blob) throw new TabServeError('model-not-found', `${locate(base, path).href} is not there: the server answered 404, or a page of HTML.`);
  return blob;
}

async function optional(base: URL, path: string, options: ArchiveOptions): Promise<Blob | undefined> {
  return await fetchFile(locate(base, path), path, options);
}

/** A file's URL, which must lie in the archive's folder. */
function locate(base: URL, path: string): URL {
  if (!base.pathname.endsWith('/')) return base;
  const url = new URL(path, base);
  url.search = base.search;
  if (url.origin !== base.origin || !url.pathname.startsWith(base.pathname))
    throw new TabServeError('model-format', `The manifest names "${path}", which lies outside of the archive.`);
  return url;
}
