/** What a repository's files say of a CTC model of speech: how sound becomes its input, and what its classes are. */
import { SAMPLE_RATES } from '../../../contract/audio.js';
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import type { DType, OutputInfo, Session, TensorInfo } from '../../../contract/tensors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { loadScript } from '../../../shared/load-script.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { isRecord } from '../../../shared/schema.js';
import {
  isSampleRate,
  PREPROCESSOR,
  readConvolutions,
  readJson,
  type Convolutions,
} from '../../handlers/speech-files.js';
import type { CtcVocabulary } from './ctc-text.js';

export const VOCABULARY = 'vocab.json';
export const TOKENIZER_CONFIG = 'tokenizer_config.json';
/** The model's second input, if it has one. */
export const MASK = 'attention_mask';

const EXTRACTOR = 'Wav2Vec2FeatureExtractor';
/** What makes text of the classes: its name today, and its old one. */
const TOKENIZERS = ['Wav2Vec2CTCTokenizer', 'Wav2Vec2Tokenizer'];

export interface SpeechModel extends Convolutions {
  /** Samples per second. */
  readonly sampleRate: number;
  /** Whether the model's input has mean 0 and variance 1. */
  readonly isNormalized: boolean;
  /** The dtype of the input for a mask, if the model has one. */
  readonly mask: DType | undefined;
  readonly vocabulary: CtcVocabulary;
  /** Does what the tokenizer does with the whole text. */
  readonly clean: (text: string) => string;
}

/**
 * @param given samples per second, instead of the files'
 * @throws `model-config` if the files say what cannot be done here, or what the model is not; `model-format`
 */
export async function readSpeechModel(
  files: Files,
  model: Session,
  input: TensorInfo,
  output: OutputInfo,
  given: number | undefined,
): Promise<SpeechModel> {
  const [tokens, tokenizer, extractor, config] = await Promise.all(
    [VOCABULARY, TOKENIZER_CONFIG, PREPROCESSOR, HF_CONFIG].map(
      async (name) => await readJson(files, name, 'speech_recognizer'),
    ),
  );
  const {
    feature_extractor_type: type,
    sampling_rate: ownRate = 16_000,
    do_normalize: isNormalized = true,
  } = extractor!;
  if (type !== undefined && type !== EXTRACTOR)
    throw underivable(
      PREPROCESSOR,
      'feature_extractor_type',
      type,
      EXTRACTOR,
      'The model takes something other than samples.',
    );
  const sampleRate = given ?? ownRate;
  if (!isSampleRate(sampleRate))
    throw underivable(
      PREPROCESSOR,
      'sampling_rate',
      sampleRate,
      `a whole number of samples per second from ${SAMPLE_RATES.least} to ${SAMPLE_RATES.most}`,
      'Set handler.sampleRate.',
    );
  const { conv_stride: strides, add_adapter: hasAdapter } = config!;
  const convolutions = readConvolutions(config!);
  if (!convolutions)
    throw underivable(HF_CONFIG, 'conv_stride', strides, 'whole numbers, as many as conv_kernel has', NEITHER);
  if (hasAdapter === true)
    throw underivable(
      HF_CONFIG,
      'add_adapter',
      hasAdapter,
      'false',
      `Its frames are not those of conv_stride. ${NEITHER}`,
    );
  const tokenizerClass = tokenizer!['tokenizer_class'] ?? config!['tokenizer_class'] ?? TOKENIZERS[0];
  if (!TOKENIZERS.includes(tokenizerClass as string))
    throw underivable(
      TOKENIZER_CONFIG,
      'tokenizer_class',
      tokenizerClass,
      TOKENIZERS[0]!,
      `Another one makes another text of the same classes. ${NEITHER}`,
    );
  const others = model.inputs.filter(({ name }) => name !== input.name && name !== MASK);
  if (others.length > 0 || input.dims.length !== 2 || output.dims.length !== 3)
    throw new TabServeError(
      'model-config',
      `speech_recognizer needs a model with an input [rows, samples] and an output [rows, frames, classes]; this one has the inputs ${model.inputs.map(({ name, dims }) => `"${name}" [${dims.map((dim) => dim ?? '?').join(', ')}]`).join(', ')} and the output "${output.name}" of ${output.dims.length} dims. ${NEITHER}`,
    );
  const vocabulary = vocabularyOf(tokens!, tokenizer!);
  // Tokens that were added for training may have numbers after the model's classes.
  const last = Math.max(...(Object.values(tokens!) as number[]));
  const count = output.dims[2];
  if (typeof count === 'number' && last >= count)
    throw new TabServeError(
      'model-config',
      `${VOCABULARY} has the token number ${last}, and the model's output "${output.name}" has ${count}: they are of two models.`,
    );
  const cleans = tokenizer!['clean_up_tokenization_spaces'] === true;
  const cleanUp = cleans && (await loadScript(async () => (await import('../../text/clean-up.js')).cleanUp));
  return {
    sampleRate,
    isNormalized: isNormalized !== false,
    mask: model.inputs.find(({ name }) => name === MASK)?.dtype,
    ...convolutions,
    vocabulary,
    clean: cleanUp || ((text) => text),
  };
}

const NEITHER = 'audio_handler returns the output of any model of sound.';

/** @throws `model-config` */
function vocabularyOf(tokens: Json, tokenizer: Json): CtcVocabulary {
  const texts = new Map<number, string>();
  for (const [text, id] of Object.entries(tokens)) {
    if (!Number.isInteger(id))
      throw underivable(
        VOCABULARY,
        text,
        id,
        "the number of the model's class for it",
        isRecord(id) ? 'It has the tokens of several languages: keep those that the model was exported with.' : '',
      );
    texts.set(id as number, text);
  }
  const added = tokenizer['added_tokens_decoder'];
  if (isRecord(added)) for (const [id, token] of Object.entries(added)) texts.set(Number(id), tokenOf(token, ''));
  const blankText = tokenOf(tokenizer['pad_token'], '<pad>');
  const blank = [...texts].find(([, text]) => text === blankText)?.[0];
  if (blank === undefined)
    throw underivable(TOKENIZER_CONFIG, 'pad_token', blankText, `a token of ${VOCABULARY}`, 'It is the blank of CTC.');
  return {
    texts,
    blank,
    unknown: tokenOf(tokenizer['unk_token'], '<unk>'),
    delimiter: tokenizer['word_delimiter_token'] === null ? undefined : tokenOf(tokenizer['word_delimiter_token'], '|'),
    space: tokenOf(tokenizer['replace_word_delimiter_char'], ' '),
    isLowerCase: tokenizer['do_lower_case'] === true,
  };
}

/** Returns the text of a token, which may be an object. */
function tokenOf(token: unknown, missing: string): string {
  const text = isRecord(token) ? token['content'] : token;
  return typeof text === 'string' ? text : missing;
}
