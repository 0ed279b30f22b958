/** What Supertonic's files say: in Supertone's own repositories, and in those of transformers.js. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Params } from '../../../contract/handler.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord } from '../../../shared/schema.js';
import { isSize, wrong } from '../../handlers/log-mel-config.js';
import { readJson } from '../../handlers/speech-files.js';
import { loadHuggingFace, TOKENIZER } from '../../text/hugging-face.js';
import { readCharacters } from './characters.js';

const NAME = 'text_to_speech';
const SIZES = 'tts.json';
const CHARACTERS = 'unicode_indexer.json';
/** The usual voice. */
const USUAL = 'M1';

/** Returns whether a repository is one of Supertone's own, by `config.json`, which says nothing of the model. */
function isOwn({ model_type: type, model_name: name }: Params): boolean {
  return type === 'onnx' && /^supertonic/i.test(String(name));
}

/** Returns the files that a repository of Supertonic must have; none for another model. */
export function supertonicFiles(config: Params, voices: unknown): readonly string[] {
  if (isOwn(config))
    return [`onnx/${SIZES}`, `onnx/${CHARACTERS}`, ...voiceNames(voices).map((name) => `voice_styles/${name}.json`)];
  return config['model_type'] === 'supertonic' ? voiceNames(voices).map((name) => `voices/${name}.bin`) : [];
}

export function voiceNames(voices: unknown): readonly string[] {
  return (voices as readonly string[] | undefined) ?? [USUAL];
}

export interface Sizes {
  readonly sampleRate: number;
  /** The samples that one column of the latent stands for, and its numbers. */
  readonly samples: number;
  readonly channels: number;
}

/** Reads the sizes of the latent. @throws `model-config` if one is missing */
export async function readSizes(files: Files, sampleRate: unknown): Promise<Sizes> {
  const own = files.has(SIZES);
  const json = await readJson(files, own ? SIZES : HF_CONFIG, NAME);
  const section = (name: string): Params => (own && isRecord(json[name]) ? json[name] : own ? {} : json);
  const [sound, latent] = [section('ae'), section('ttl')];
  const rate = sampleRate ?? sound[own ? 'sample_rate' : 'sampling_rate'];
  const sizes = {
    rate,
    base_chunk_size: sound['base_chunk_size'],
    chunk_compress_factor: latent['chunk_compress_factor'],
    latent_dim: latent['latent_dim'],
  };
  const missing = Object.entries(sizes).find(([, size]) => !isSize(size));
  if (missing) throw wrong(missing[0], missing[1], 'a whole number above 0');
  const [, base, factor, dim] = Object.values(sizes) as [number, number, number, number];
  return { sampleRate: rate as number, samples: base * factor, channels: dim * factor };
}

/** Returns the ids of characters, in order; a character that the model does not know has none. */
export async function readCharacterIds(files: Files): Promise<(text: string) => readonly number[]> {
  if (!files.has(CHARACTERS)) return await readTokenizer(files);
  const ids: unknown = await files.json(CHARACTERS);
  if (!Array.isArray(ids) || !ids.every((id) => Number.isSafeInteger(id)))
    throw new TabServeError('model-format', `${CHARACTERS} must be a list of numbers, one for each character.`);
  // By UTF-16 unit, as many as the list has; −1 is a character that the model does not know.
  return (text) => Array.from(text, (one) => (ids[one.codePointAt(0)!] ?? -1) as number).filter((id) => id >= 0);
}

/** Reads `tokenizer.json`: a tokenizer of pieces, or the numbers of characters. */
async function readTokenizer(files: Files): Promise<(text: string) => readonly number[]> {
  const { model } = await readJson(files, TOKENIZER, NAME);
  const type = isRecord(model) ? model['type'] : undefined;
  if (type === undefined || type === 'WordLevel') {
    const ids = await readCharacters(files);
    return (text) => Array.from(text, (one) => ids.get(one)).filter((id) => id !== undefined);
  }
  const tokenizer = await loadHuggingFace(files);
  return (text) => tokenizer.encode(text, undefined, Infinity).ids;
}

/** The numbers of a voice, by the names of the inputs that take them. */
export type Style = Readonly<Record<string, Float32Array>>;

/** Reads the voices. @throws `model-format` if a file is no voice; `model-config` if there is none of the name */
export async function readStyles(files: Files, names: readonly string[]): Promise<ReadonlyMap<string, Style>> {
  return new Map(await Promise.all(names.map(async (name) => [name, await readStyle(files, name)] as const)));
}

async function readStyle(files: Files, name: string): Promise<Style> {
  if (!files.has(`${name}.json`)) {
    const bytes = await files.bytes(`${name}.bin`);
    if (bytes.length > 0 && bytes.length % 4 === 0) return { style: new Float32Array(bytes.slice().buffer) };
    throw notVoice(`${name}.bin`, `it has ${bytes.length} bytes, and float32 has a multiple of 4`);
  }
  const json = await readJson(files, `${name}.json`, NAME);
  const entries = ['style_ttl', 'style_dp'].map((key) => {
    const style = json[key];
    const numbers: readonly unknown[] = isRecord(style) && Array.isArray(style['data']) ? style['data'].flat(9) : [];
    if (numbers.length === 0 || !numbers.every(Number.isFinite))
      throw notVoice(`${name}.json`, `${key} has no list "data" of numbers`);
    return [key, Float32Array.from(numbers as number[])] as const;
  });
  return Object.fromEntries(entries);
}

function notVoice(file: string, why: string): TabServeError {
  return new TabServeError('model-format', `${file} is no voice: ${why}.`);
}
