/** What a repository of Hugging Face has to download. */
import type { HubFile } from '../../src/contract/archive.js';
import { TabServeError } from '../../src/contract/errors.js';
import { hubRepositoryOf, type HubRepository } from '../../src/shared/hub.js';
import { listingUrl, readListing } from '../../src/shared/hub-listing.js';
import { readModelUrl } from '../../src/shared/model-url.js';
import { Explained } from '../page/explained.js';

/** The precisions, by the ends of the files' names. */
const SUFFIXES = {
  '': 'fp32',
  _fp16: 'fp16',
  _quantized: 'q8',
  _int8: 'int8',
  _uint8: 'uint8',
  _q4: 'q4',
  _q4f16: 'q4f16',
  _bnb4: 'bnb4',
} as const;
type Precision = (typeof SUFFIXES)[keyof typeof SUFFIXES];

/** A model of a repository, in one precision. */
export interface HubModel {
  /** What follows `https://huggingface.co/` in its address. */
  readonly repository: string;
  readonly dtype: Precision;
  /** The bytes to download: of the model with its external data, and of the files beside it. */
  readonly bytes: number;
}

const BESIDE = new Set([
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.jinja',
]);

/** A repository, or a folder of it, at a revision. */
export interface Repository {
  /** What follows `https://huggingface.co/` in its address. */
  readonly path: string;
  readonly repository: HubRepository;
}

/**
 * Returns the repository of what a visitor typed: `ORG/NAME`, with `@REVISION` or without, or any of its addresses.
 * @throws what the visitor can do about it
 */
export function repositoryOf(typed: string): Repository {
  const text = typed.trim();
  const address = /^[\w.-]+\/[\w.-]+(@.+)?$/.test(text)
    ? `hf:${text}`
    : text.replace(/^(?:huggingface|hf)\.co\//, 'https://$&');
  if (!URL.canParse(address)) throw new Explained(EXPECTED);
  try {
    const { url, file } = readModelUrl(address, 'Repository');
    const repository = file === undefined ? hubRepositoryOf(url) : undefined;
    if (!repository) throw new Explained(EXPECTED);
    const { name, revision, folder } = repository;
    const isUsual = revision === 'main' && folder === '';
    return { path: isUsual ? name : `${name}/tree/${revision}/${folder}`, repository };
  } catch (error) {
    throw error instanceof TabServeError ? new Explained(error.message) : error;
  }
}

const EXPECTED = 'Write a repository as ORG/NAME, such as onnx-community/SmolLM2-135M-ONNX, or paste its address.';

/**
 * Asks huggingface.co for the files of a repository.
 * @throws what the visitor can do about it
 */
export async function hubFiles({ path, repository }: Repository, signal: AbortSignal): Promise<readonly HubFile[]> {
  const response = await fetch(listingUrl(repository), { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Explained('huggingface.co could not be reached. Check the connection, or the policy of this site.');
  });
  if (response.headers.get('x-error-code') === 'RevisionNotFound')
    throw new Explained(`${repository.name} has no revision ${decodeURIComponent(repository.revision)}.`);
  // The hub says 401 of a repository that is not there, since it may be private.
  if (response.status === 401 || response.status === 404)
    throw new Explained(`huggingface.co has no public repository ${repository.name}.`);
  if (!response.ok) throw new Explained(`huggingface.co answered ${response.status}. Try again later.`);
  const listing = readListing(await response.text(), repository);
  if (!listing) throw new Explained(`huggingface.co did not list the files of ${path}. Try again later.`);
  return listing.files;
}

/**
 * Returns the language model of a repository in each precision, the smallest first.
 * @throws what `hubFiles` throws; that there is none
 */
export async function hubModels(repository: Repository, signal: AbortSignal): Promise<readonly HubModel[]> {
  const models = modelsOf(repository.path, await hubFiles(repository, signal));
  if (models.length === 0)
    throw new Explained(`${repository.path} has no language model in ONNX: no file onnx/model.onnx or its like.`);
  return models;
}

function modelsOf(repository: string, files: readonly HubFile[]): readonly HubModel[] {
  const sum = (isMeant: (path: string) => boolean): number =>
    files.filter(({ path }) => isMeant(path)).reduce((total, { bytes }) => total + bytes, 0);
  const beside = sum((path) => BESIDE.has(path));
  for (const name of ['onnx/model', 'onnx/decoder_model_merged', 'model', 'decoder_model_merged']) {
    const models = Object.entries(SUFFIXES)
      .filter(([suffix]) => files.some(({ path }) => path === `${name}${suffix}.onnx`))
      .map(([suffix, dtype]) => {
        const own = `${name}${suffix}.onnx`;
        return { repository, dtype, bytes: beside + sum((path) => path === own || path.startsWith(`${own}_data`)) };
      });
    if (models.length > 0) return models.toSorted((a, b) => a.bytes - b.bytes);
  }
  return [];
}
