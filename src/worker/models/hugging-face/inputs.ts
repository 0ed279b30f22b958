/** The preprocessing of a repository: the processors' files, and keys of `handler:`. */
import { TabServeError } from '../../../contract/errors.js';
import type { HuggingFaceTask, Processor } from '../../../contract/hugging-face-task.js';
import { MAX_METADATA_BYTES } from '../../../contract/limits.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { loadScript } from '../../../shared/load-script.js';
import { isRecord } from '../../../shared/schema.js';
import { readObject } from '../json.js';
import type { Source } from '../sources/source.js';
import { imageProcessingOf } from './image-processing.js';
import { PREPROCESSOR, readProcessor } from './processor-file.js';
import { TASKS } from '../../tasks/index.js';
import { timmConfigOf, timmProcessing } from './timm.js';

export const TOKENIZER = 'tokenizer.json';
export const TOKENIZER_CONFIG = 'tokenizer_config.json';
const SPECIAL_TOKENS_MAP = 'special_tokens_map.json';
const ADDED_TOKENS = 'added_tokens.json';

/** The files and keys that define the preprocessing. */
export interface Prepared {
  /** Keys of `handler:`. */
  readonly handler: Json;
  /** The files that were read for it. */
  readonly files: Readonly<Record<string, Blob>>;
  /** Whether `tokenizer.json` is read. */
  readonly isText: boolean;
}

/** A task, and the handlers of the caller and of the repository. */
type GivenTask = Partial<HuggingFaceTask> & {
  readonly handler: string | undefined;
  readonly ownHandler: string | undefined;
};

/** Returns the files and keys that define the preprocessing of some processors. */
export async function prepared(
  source: Source,
  processors: readonly Processor[],
  task: GivenTask,
  config: Json,
  own: Json,
): Promise<Prepared> {
  const isText = processors.includes('tokenizer') && own['tokenizer'] !== 'torchserve';
  const [texts, images] = await Promise.all([
    isText ? textConfig(source, task, config, own) : { handler: {}, files: {} },
    processors.includes('image') && own['imageProcessing'] === undefined ? imageConfig(source, task, config) : {},
  ]);
  return { handler: { ...images, ...texts.handler }, files: texts.files, isText };
}

async function textConfig(
  source: Source,
  task: GivenTask,
  config: Json,
  own: Json,
): Promise<Pick<Prepared, 'handler' | 'files'>> {
  if (!(await source.has(TOKENIZER)))
    throw new TabServeError(
      'model-not-found',
      `There is no ${TOKENIZER}. ${otherHandler(task) ?? 'In Python, AutoTokenizer.from_pretrained(NAME).save_pretrained(FOLDER) writes it, if the tokenizer is a fast one.'}`,
    );
  const settings = await source.read(TOKENIZER_CONFIG, undefined, MAX_METADATA_BYTES);
  const limits = settings ? await readObject(settings, TOKENIZER_CONFIG) : {};
  // transformers reads them only then, too, and most repositories have them still.
  const old = 'added_tokens_decoder' in limits ? [] : [SPECIAL_TOKENS_MAP, ADDED_TOKENS];
  const tokens = await Promise.all(old.map((path) => source.read(path, undefined, MAX_METADATA_BYTES)));
  const sentences = task.sentenceTransformers
    ? await (
        await loadScript(() => import('./sentence-transformers.js'))
      ).readSentenceTransformers(source, config['model_type'], own)
    : { handler: {}, files: {} };
  const isLimited = own['maxLength'] === undefined && !task.generates;
  // The config of a model of images and texts has a part about texts.
  const part = task.processor === 'both' ? config['text_config'] : config;
  return {
    handler: {
      ...(isLimited && isRecord(part) && maxLengthOf(part, limits)),
      // Those of images and texts count positions themselves.
      ...(!task.generates && part === config && firstPositionOf(config)),
      ...sentences.handler,
    },
    files: {
      ...(settings && { [TOKENIZER_CONFIG]: settings }),
      ...Object.fromEntries(old.flatMap((path, at) => (tokens[at] ? [[path, tokens[at]]] : []))),
      ...sentences.files,
    },
  };
}

async function imageConfig(source: Source, task: GivenTask, config: Json): Promise<Json> {
  const processor = await readProcessor(source);
  if (processor) return { imageProcessing: imageProcessingOf(processor, config) };
  const timm = timmConfigOf(config);
  if (timm) return { imageProcessing: timmProcessing(timm) };
  const advice = otherHandler(task) ?? 'Set handler.imageProcessing to the steps of this model (docs/model-config.md).';
  throw new TabServeError(
    'model-config',
    `There is no ${PREPROCESSOR}, and no image_processor in a processor_config.json, which says how images become the model's input. ${advice}`,
  );
}

/** Returns a sentence if the architecture is for a handler other than the one that the caller named. */
function otherHandler({ handler, ownHandler }: GivenTask): string | undefined {
  return ownHandler !== undefined && ownHandler !== handler && Object.hasOwn(TASKS, ownHandler)
    ? `By its config.json, the model is for ${ownHandler}, not ${handler}. Leave the option handler out, or set it to ${ownHandler}.`
    : undefined;
}

/** A length that means no limit: transformers writes 1e30 for none. */
const NO_LIMIT = 1e9;

/** Models whose positions begin after the number of the padding token, as RoBERTa's. */
const OFFSET_POSITIONS = new Set([
  'altclip_text_model',
  'camembert',
  'clap_text_model',
  'data2vec-text',
  'esm',
  'ibert',
  'layoutlmv3',
  'lilt',
  'longformer',
  'luke',
  'markuplm',
  'mpnet',
  'roberta',
  'roberta-prelayernorm',
  'xlm-roberta',
  'xlm-roberta-xl',
  'xmod',
]);

/**
 * Returns `handler.maxLength`, if the tokenizer's own config has no limit and the model has a number of positions.
 * @param config the parsed `config.json`
 * @param tokenizer the parsed `tokenizer_config.json`
 * @throws `model-config` naming the field that leaves no room for a text
 */
export function maxLengthOf(config: Json, tokenizer: Json): Json {
  const { max_position_embeddings: positions } = config;
  const limit = tokenizer['model_max_length'] ?? tokenizer['max_len'];
  if (typeof limit === 'number' && limit < NO_LIMIT) return {};
  if (typeof positions !== 'number' || !Number.isInteger(positions) || positions < 1) return {};
  const { firstPosition = 0 } = firstPositionOf(config);
  if (positions <= firstPosition)
    throw wrong('max_position_embeddings', positions, `more than pad_token_id + 1 = ${firstPosition}`);
  return { maxLength: positions - firstPosition };
}

/** Returns `handler.firstPosition`, if it is not 0. @throws `model-config` if the padding's id is none */
function firstPositionOf({ model_type: type, pad_token_id: padding }: Json): { readonly firstPosition?: number } {
  if (!OFFSET_POSITIONS.has(type as string)) return {};
  const id = (padding ?? 1) as number;
  if (!Number.isSafeInteger(id) || id < 0) throw wrong('pad_token_id', padding, 'the id of a token');
  return { firstPosition: id + 1 };
}

function wrong(field: string, value: unknown, expected: string): TabServeError {
  return underivable('config.json', field, value, expected, 'Set handler.maxLength to the most tokens of a text.');
}
