/** What a repository of Hugging Face has to download. */
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
  /** ORG/NAME. */
  readonly repository: string;
  readonly dtype: Precision;
  /** The bytes to download: of the model with its external data, and of the files beside it. */
  readonly bytes: number;
}

/** One file of the hub's answer. */
interface HubFile {
  readonly path: string;
  readonly size: number;
}

const BESIDE = new Set([
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'chat_template.jinja',
]);

/** Returns ORG/NAME of what a visitor typed: that, or the repository's address. */
export function repositoryOf(typed: string): string | undefined {
  return /^(?:https:\/\/huggingface\.co\/)?([\w.-]+\/[\w.-]+?)\/?$/.exec(typed.trim())?.[1];
}

/**
 * Asks huggingface.co for the files of a repository.
 * @throws what the visitor can do about it
 */
export async function hubFiles(repository: string, signal: AbortSignal): Promise<readonly HubFile[]> {
  const url = `https://huggingface.co/api/models/${repository}/tree/main?recursive=true`;
  const response = await fetch(url, { signal }).catch((error: unknown) => {
    if (signal.aborted) throw error;
    throw new Explained('huggingface.co could not be reached. Check the connection, or the policy of this site.');
  });
  // The hub says 401 of a repository that is not there, since it may be private.
  if (response.status === 401 || response.status === 404)
    throw new Explained(`huggingface.co has no public repository ${repository}.`);
  if (!response.ok) throw new Explained(`huggingface.co answered ${response.status}. Try again later.`);
  return (await response.json()) as readonly HubFile[];
}

/**
 * Returns the language model of a repository in each precision, the smallest first.
 * @throws what `hubFiles` throws; that there is none
 */
export async function hubModels(repository: string, signal: AbortSignal): Promise<readonly HubModel[]> {
  const models = modelsOf(repository, await hubFiles(repository, signal));
  if (models.length === 0)
    throw new Explained(`${repository} has no language model in ONNX: no file onnx/model.onnx or its like.`);
  return models;
}

function modelsOf(repository: string, files: readonly HubFile[]): readonly HubModel[] {
  const sum = (isMeant: (path: string) => boolean): number =>
    files.filter(({ path }) => isMeant(path)).reduce((total, { size }) => total + size, 0);
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
