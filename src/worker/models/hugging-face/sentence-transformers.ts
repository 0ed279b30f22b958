import type { TabServeError } from '../../../contract/errors.js';
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { isRecord } from '../../../shared/schema.js';
import { parseJson, readObject, readText } from '../json.js';
import { readRequired, type Source } from '../sources/source.js';

const MODULES = 'modules.json';
const PROMPTS_CONFIG = 'config_sentence_transformers.json';
const ADVICE =
  "Set handler.pooling and handler.normalize to what the model's card says, or handler.outputName to an output that holds the sentence's vector.";

/** The modes of `Pooling`, in the order in which their vectors follow one another, and `handler.pooling` for each. */
const MODES = {
  cls: 'cls',
  max: 'max',
  mean: 'mean',
  mean_sqrt_len_tokens: 'mean-sqrt-length',
  weightedmean: 'weighted-mean',
  lasttoken: 'last-token',
} as const;

/** The fields of before version 5.7, one for each mode. */
const OLD_FIELDS: Readonly<Record<string, keyof typeof MODES>> = {
  pooling_mode_cls_token: 'cls',
  pooling_mode_max_tokens: 'max',
  pooling_mode_mean_tokens: 'mean',
  pooling_mode_mean_sqrt_len_tokens: 'mean_sqrt_len_tokens',
  pooling_mode_weightedmean_tokens: 'weightedmean',
  pooling_mode_lasttoken: 'lasttoken',
};

const ACTIVATIONS: Readonly<Record<string, string>> = {
  'torch.nn.modules.linear.Identity': 'identity',
  'torch.nn.modules.activation.Tanh': 'tanh',
};

/** Returns the file with the transformer's settings, by the `model_type` of `config.json` in old repositories. */
function settingsFile(type: unknown): string {
  return `sentence_${String(type)}_config.json`;
}

/** What follows from a repository's files for a handler. */
export interface SentenceKeys {
  readonly handler: Json;
  /** The files that the handler reads, by their path in the archive. */
  readonly files: Readonly<Record<string, Blob>>;
}

/**
 * Reads how a repository of sentence-transformers (5.7) computes a vector from a text: `modules.json` with the modules
 * that it lists, `sentence_bert_config.json`, and the prompts of `config_sentence_transformers.json`.
 * @param type the `model_type` of `config.json`
 * @param own the caller's own keys of `handler:`, which win
 * @returns nothing if there is no `modules.json`
 * @throws `model-config` naming the file and the field from which no key can be derived; `model-format`,
 *   `model-not-found`
 */
export async function readSentenceTransformers(source: Source, type: unknown, own: Json): Promise<SentenceKeys> {
  const modules = await readJson(source, MODULES);
  if (modules === undefined) return { handler: {}, files: {} };
  const [limits, prompts] = await Promise.all([
    own['maxLength'] === undefined ? limitOf(source, type) : {},
    own['prompts'] === undefined ? promptsOf(source) : {},
  ]);
  const isOwn = own['pooling'] !== undefined || own['outputName'] !== undefined;
  const vectors = isOwn ? { handler: {}, files: {} } : await vectorsOf(source, modules, prompts);
  return { handler: { ...limits, ...prompts, ...vectors.handler }, files: vectors.files };
}

async function limitOf(source: Source, type: unknown): Promise<Json> {
  const usual = settingsFile('bert');
  const name = (await source.has(usual)) ? usual : settingsFile(type);
  const config = await fieldsOf(source, name);
  if (config['do_lower_case'])
    throw underivable(
      name,
      'do_lower_case',
      true,
      'false',
      'Set handler.maxLength to its max_seq_length, and pass texts in lower case.',
    );
  const most: unknown = config['max_seq_length'];
  return Number.isSafeInteger(most) && (most as number) > 0 ? { maxLength: most } : {};
}

async function promptsOf(source: Source): Promise<Json> {
  const { prompts, default_prompt_name: name } = await fieldsOf(source, PROMPTS_CONFIG);
  if (!isRecord(prompts)) return {};
  const texts = Object.entries(prompts).filter(([, text]) => typeof text === 'string' && text !== '');
  const isUsed = texts.some(([one]) => one === name);
  return texts.length === 0 ? {} : { prompts: Object.fromEntries(texts), ...(isUsed && { prompt: name }) };
}

/**
 * Returns the keys for the modules after the transformer: one pooling, any number of dense layers, one normalization.
 */
async function vectorsOf(source: Source, modules: unknown, prompts: Json): Promise<SentenceKeys> {
  if (!Array.isArray(modules) || !modules.every(isRecord)) throw wrong(MODULES, 'it', modules, 'a list of modules');
  let pooling: Json | undefined;
  let normalize = false;
  const dense: Json[] = [];
  const files: Record<string, Blob> = {};
  for (const [index, { type, path }] of modules.entries()) {
    const folder = String(path ?? '');
    const config = async (): Promise<Json> => await fieldsOf(source, `${folder}/config.json`);
    switch (kindOf(type)) {
      case 'Transformer':
        if (index === 0) continue;
        break;
      case 'Pooling':
        if (pooling || dense.length > 0 || normalize) break;
        pooling = poolingOf(await config(), `${folder}/config.json`, prompts);
        continue;
      case 'Dense':
        if (!pooling || normalize) break;
        dense.push(await denseOf(source, folder, await config(), files));
        continue;
      case 'Normalize':
        normalize = true;
        continue;
    }
    throw wrong(MODULES, `module ${index}`, type, 'Transformer, Pooling, Dense and Normalize, in this order');
  }
  if (!pooling) throw wrong(MODULES, 'Pooling', undefined, 'a module of this type');
  return { handler: { ...pooling, ...(dense.length > 0 && { dense }), normalize }, files };
}

/** Returns the name of a class of sentence-transformers' own, whose modules were in several packages. */
function kindOf(type: unknown): string | undefined {
  return typeof type === 'string' ? /^sentence_transformers\.(?:\w+\.)*(\w+)$/.exec(type)?.[1] : undefined;
}

function poolingOf(config: Json, file: string, prompts: Json): Json {
  if (config['include_prompt'] === false && prompts['prompts'] !== undefined)
    throw wrong(file, 'include_prompt', false, 'true');
  const old = Object.entries(OLD_FIELDS).flatMap(([field, mode]) => (config[field] === true ? [mode] : []));
  const given: unknown = config['pooling_mode'] ?? old;
  const modes = Array.isArray(given) ? given : [given];
  if (modes.length === 0 || !modes.every((mode) => Object.hasOwn(MODES, String(mode))))
    throw wrong(file, 'pooling_mode', given, Object.keys(MODES).join(', '));
  const names = modes.map((mode) => MODES[mode as keyof typeof MODES]);
  return { pooling: names.length === 1 ? names[0] : names };
}

/** Adds the layer's weights to `files`. */
async function denseOf(source: Source, folder: string, config: Json, files: Record<string, Blob>): Promise<Json> {
  const { activation_function: name = 'torch.nn.modules.activation.Tanh' } = config;
  const activation = typeof name === 'string' && Object.hasOwn(ACTIVATIONS, name) ? ACTIVATIONS[name] : undefined;
  if (activation === undefined)
    throw wrong(`${folder}/config.json`, 'activation_function', name, Object.keys(ACTIVATIONS).join(' or '));
  // At the archive's root, where extra files are.
  const weights = `${folder.replaceAll('/', '_')}.safetensors`;
  files[weights] = await readRequired(source, `${folder}/model.safetensors`, {});
  return { weights, activation };
}

/** Returns a file's value; undefined if there is no such file. */
async function readJson(source: Source, file: string): Promise<unknown> {
  const blob = await source.read(file, undefined, MAX_METADATA_BYTES);
  return blob && parseJson(await readText(blob, file, MAX_METADATA_BYTES), file);
}

/** Returns the fields of a file; none if there is no such file. */
async function fieldsOf(source: Source, file: string): Promise<Json> {
  const blob = await source.read(file, undefined, MAX_METADATA_BYTES);
  return blob ? await readObject(blob, file) : {};
}

function wrong(file: string, field: string, value: unknown, expected: string): TabServeError {
  return underivable(file, field, value, expected, ADVICE);
}
