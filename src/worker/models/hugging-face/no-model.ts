/** Repositories of the Hub without a model that runs here: where its exports may be. */
import { TabServeError } from '../../../contract/errors.js';
import { shorten } from '../../../contract/describe-value.js';
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { hubRepositoryOf } from '../../../shared/hub.js';
import { readText } from '../json.js';
import type { Source } from '../sources/source.js';

const CARD = 'README.md';
/** The address of a repository in a text. */
const ADDRESS = /huggingface\.co\/([\w.-]+\/[\w.-]*\w)/g;
/** What the names of exports, or of those who make them, have in them. */
const EXPORTS = /onnx|^xenova\//i;
/** Where exporters put a model, and what its name has in it. */
const USUAL = /^(?:onnx\/)?[^/]*(?:model|encoder|decoder)[^/]*$/;
/** How many files and repositories a message names. */
const MAX_NAMED = 5;

/** Returns the error for a repository without `config.json`. */
export async function noRepository(source: Source): Promise<TabServeError> {
  const { url, paths = [] } = source;
  if (paths.includes(HF_CONFIG))
    return new TabServeError(
      'model-not-found',
      `${url} lists ${HF_CONFIG}, but the server answers that there is none, or sends a page of HTML. Try again later.`,
    );
  const nested = paths.find((path) => path.endsWith(`/${HF_CONFIG}`) && paths.some(isOnnxBelow(folderOf(path))));
  if (nested !== undefined)
    return new TabServeError(
      'model-not-found',
      `${url} has no ${HF_CONFIG}, but ${shorten(nested)}. Name its folder: ${url.replace('/resolve/', '/tree/')}${shorten(folderOf(nested))}`,
    );
  const named = paths.slice(0, MAX_NAMED).map((path) => shorten(path));
  const has = named.length === 0 ? 'no files' : named.join(', ') + (paths.length > MAX_NAMED ? ' and others' : '');
  return await withExports(
    new TabServeError('model-not-found', `${url} is no model in ONNX: it has no ${HF_CONFIG}, but ${has}.`),
    source,
  );
}

/**
 * Returns the error for a repository that cannot be read: if it is one of the Hub without ONNX files, that they are
 * missing.
 */
export async function withoutModel(error: TabServeError, source: Source): Promise<TabServeError> {
  const { url, paths } = source;
  if (!paths || !repositoryOf(url) || paths.some(isOnnxBelow(''))) return error;
  return await withExports(new TabServeError('model-not-found', `${url} has no .onnx file.`, { cause: error }), source);
}

/**
 * Adds to the error for a repository of the Hub without the model's file: where the model may be in ONNX, or what its
 * ONNX files need to be opened.
 */
export async function withExports(error: TabServeError, source: Source): Promise<TabServeError> {
  const { url, paths } = source;
  const repository = repositoryOf(url);
  if (error.code !== 'model-not-found' || !repository || !paths) return error;
  const [onnx, ...others] = paths.filter(isOnnxBelow(''));
  const add = (advice: string): TabServeError =>
    new TabServeError(error.code, `${error.message} ${advice}`, { cause: error.cause });
  if (paths.some((path) => path.includes('decoder_with_past_model')))
    return add(
      'Its decoder is in two files; expected is one, decoder_model_merged.onnx, which Optimum writes as well.',
    );
  if (onnx !== undefined)
    return [onnx, ...others].some((path) => USUAL.test(path))
      ? error
      : add(`The file ${url}${shorten(onnx)} opens alone, with the option handler.`);
  const own = repository.name.toLowerCase();
  const named = (await namedByCard(source)).filter((name) => name.toLowerCase() !== own).slice(0, MAX_NAMED);
  const search = `https://huggingface.co/models?library=onnx&search=${encodeURIComponent(repository.name.split('/')[1]!)}`;
  const advice =
    named.length > 0
      ? `Its card names ${named.map((name) => `hf:${name}`).join(', ')}.`
      : `Look for an export of it at ${search}, or make one with Optimum.`;
  return add(advice);
}

function repositoryOf(url: string): ReturnType<typeof hubRepositoryOf> {
  return URL.canParse(url) ? hubRepositoryOf(new URL(url)) : undefined;
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/') + 1);
}

function isOnnxBelow(folder: string): (path: string) => boolean {
  return (path) => path.startsWith(folder) && path.endsWith('.onnx');
}

/** Returns the repositories that the card names, and that have ONNX files by their names. */
async function namedByCard(source: Source): Promise<readonly string[]> {
  try {
    const card = await source.read(CARD, undefined, MAX_METADATA_BYTES);
    const text = card ? await readText(card, CARD, MAX_METADATA_BYTES) : '';
    const names = [...text.matchAll(ADDRESS)].map(([, name]) => name!);
    return [...new Set(names.filter((name) => EXPORTS.test(name)))];
  } catch {
    // What is missing is the more important error.
    return [];
  }
}
