/** What a repository's files say of the classes of a CTC model: characters, or pieces of words. */
import type { Files } from '../../../contract/archive.js';
import { TabServeError } from '../../../contract/errors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { loadScript } from '../../../shared/load-script.js';
import { isRecord } from '../../../shared/schema.js';
import { readJson } from '../../handlers/speech-files.js';
import { decodeFrames, joinText, joinWords, type CtcVocabulary } from './ctc-text.js';
import type { Heard, Recognizer } from './recognizer.js';
import { joinPieces, joinPieceWords, textOfPiece } from './word-pieces.js';

export const VOCABULARY = 'vocab.json';
export const TOKENIZER = 'tokenizer.json';
export const TOKENIZER_CONFIG = 'tokenizer_config.json';

/** What makes text of characters: its name today, and its old one. */
const TOKENIZERS = ['Wav2Vec2CTCTokenizer', 'Wav2Vec2Tokenizer'];

/** How a recognizer writes, and the number of its last class. */
interface CtcWriter extends Pick<Recognizer, 'partsOf' | 'textOf' | 'wordsOf'> {
  readonly last: number;
  /** The file with the classes. */
  readonly file: string;
}

/**
 * Reads the vocabulary: characters of `vocab.json`, or without one the pieces of `tokenizer.json`.
 * @param config the parsed `config.json`
 * @throws `model-config` if the files say what cannot be done here; `model-format`
 */
export async function readWriter(files: Files, config: Json): Promise<CtcWriter> {
  const settings = await readJson(files, TOKENIZER_CONFIG, 'speech_recognizer');
  if (!files.has(VOCABULARY) && files.has(TOKENIZER)) return await readPieces(files, settings);
  const tokens = await readJson(files, VOCABULARY, 'speech_recognizer');
  const tokenizerClass = settings['tokenizer_class'] ?? config['tokenizer_class'] ?? TOKENIZERS[0];
  if (!TOKENIZERS.includes(tokenizerClass as string))
    throw underivable(
      TOKENIZER_CONFIG,
      'tokenizer_class',
      tokenizerClass,
      TOKENIZERS[0]!,
      'Another one makes another text of the same classes. audio_handler returns the output of any model of sound.',
    );
  const vocabulary = charactersOf(tokens, settings);
  const cleans = settings['clean_up_tokenization_spaces'] === true;
  const cleanUp = cleans && (await loadScript(async () => (await import('../../text/clean-up.js')).cleanUp));
  return {
    // Tokens that were added for training may have numbers after the model's classes.
    last: Math.max(...(Object.values(tokens) as number[])),
    file: VOCABULARY,
    partsOf: (heard) => decodeFrames(idsOf(heard), vocabulary),
    textOf: (parts) => (cleanUp ? cleanUp(joinText(parts, vocabulary)) : joinText(parts, vocabulary)),
    wordsOf: (parts) => joinWords(parts, vocabulary),
  };
}

async function readPieces(files: Files, settings: Json): Promise<CtcWriter> {
  const { model, added_tokens: added = [] } = await readJson(files, TOKENIZER, 'speech_recognizer');
  const pieces = isRecord(model) ? model['vocab'] : undefined;
  if (!isRecord(pieces))
    throw underivable(TOKENIZER, 'model.vocab', pieces, "the numbers of the model's classes, by pieces", '');
  const ids = new Map<string, number>([
    ...(Object.entries(pieces) as [string, number][]),
    ...(added as readonly { readonly content: string; readonly id: number }[]).map(
      ({ content, id }) => [content, id] as const,
    ),
  ]);
  const blankText = tokenOf(settings['pad_token'], '<pad>');
  const blank = blankOf(ids.get(blankText), blankText, TOKENIZER);
  return pieceWriter(new Map([...ids].map(([piece, id]) => [id, piece])), blank, TOKENIZER);
}

/** Returns how a CTC model of pieces writes. @param pieces by their numbers @param file that they are from */
export function pieceWriter(pieces: ReadonlyMap<number, string>, blank: number, file: string): CtcWriter {
  const vocabulary: CtcVocabulary = {
    texts: new Map([...pieces].map(([id, piece]) => [id, textOfPiece(piece)])),
    blank,
    unknown: '',
    delimiter: undefined,
    space: ' ',
    isLowerCase: false,
  };
  return {
    last: Math.max(...pieces.keys()),
    file,
    partsOf: (heard) => decodeFrames(idsOf(heard), vocabulary),
    textOf: joinPieces,
    wordsOf: joinPieceWords,
  };
}

/** Returns the classes of frames that follow one another from the first. */
function idsOf(heard: readonly Heard[]): readonly number[] {
  return heard.map(({ id }) => id);
}

/** @throws `model-config` */
function charactersOf(tokens: Json, tokenizer: Json): CtcVocabulary {
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
  return {
    texts,
    blank: blankOf([...texts].find(([, text]) => text === blankText)?.[0], blankText, VOCABULARY),
    unknown: tokenOf(tokenizer['unk_token'], '<unk>'),
    delimiter: tokenizer['word_delimiter_token'] === null ? undefined : tokenOf(tokenizer['word_delimiter_token'], '|'),
    space: tokenOf(tokenizer['replace_word_delimiter_char'], ' '),
    isLowerCase: tokenizer['do_lower_case'] === true,
  };
}

/** @throws `model-config` if the vocabulary has no blank */
function blankOf(blank: number | undefined, text: string, file: string): number {
  if (blank !== undefined) return blank;
  throw underivable(TOKENIZER_CONFIG, 'pad_token', text, `a token of ${file}`, 'It is the blank of CTC.');
}

/** Returns the text of a token, which may be an object. */
function tokenOf(token: unknown, missing: string): string {
  const text = isRecord(token) ? token['content'] : token;
  return typeof text === 'string' ? text : missing;
}

/** @throws `model-config` if the model has fewer classes than the vocabulary */
export function checkClasses({ last, file }: CtcWriter, name: string, classes: unknown): void {
  if (typeof classes !== 'number' || last < classes) return;
  throw new TabServeError(
    'model-config',
    `${file} has the token number ${last}, and the model's output "${name}" has ${classes}: they are of two models.`,
  );
}
