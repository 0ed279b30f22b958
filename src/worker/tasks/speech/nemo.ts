/**
 * NeMo's recognizers (FastConformer, Parakeet) in the files of onnx-asr: CTC in one model, or a transducer in two, of
 * which TDT also says how long each token lasts.
 */
import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { Session, Tensors } from '../../../contract/tensors.js';
import { underivable, type Json } from '../../../shared/hugging-face.js';
import { loadScript } from '../../../shared/load-script.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { numbersOf } from '../../outputs/rows.js';
import { integers } from '../../tensors/tensors.js';
import { checkClasses, pieceWriter } from './ctc-vocabulary.js';
import { frameClasses } from './frame-classes.js';
import type { Recognizer } from './recognizer.js';
import { openTransducer, transducerExample } from './transducer.js';
import { joinPieces, joinPieceWords, textOfPiece } from './word-pieces.js';

export const NEMO_TYPES = ['nemo-conformer-tdt', 'nemo-conformer-rnnt', 'nemo-conformer-ctc'];
export const NEMO_VOCABULARY = 'vocab.txt';

const RATE = 16_000;
const BLANK = '<blk>';
/** The maximum of each number of the config: models have about a hundred mels, and ten tokens in a frame. */
const MAX_SIZE = 1000;
/** The inputs: the spectrogram, and how many of its frames are no padding. */
const [SOUND, LENGTH] = ['audio_signal', 'length'];

/**
 * @param config the parsed `config.json`
 * @throws `model-config` if the files say what cannot be done here, or what the models are not
 */
export async function openNemo(model: Session, context: Context, config: Json): Promise<Recognizer> {
  const sizeOf = (key: string, usual: number): number => {
    const { [key]: size = usual } = config;
    if (Number.isInteger(size) && (size as number) > 0 && (size as number) <= MAX_SIZE) return size as number;
    throw underivable(
      HF_CONFIG,
      key,
      size,
      `an integer in 1..${MAX_SIZE}`,
      'Take the file of the model that was exported.',
    );
  };
  const [mels, subsampling] = [sizeOf('features_size', 80), sizeOf('subsampling_factor', 8)];
  checkInputs(model, mels);
  const pieces = vocabularyOf(await context.files.text(NEMO_VOCABULARY));
  const blank = pieces.indexOf(BLANK);
  const { NemoMel, NEMO_MEL } = await loadScript(async () => await import('../../audio/nemo-mel.js'));
  const bank = new NemoMel({ sampleRate: RATE, mels, ...NEMO_MEL });
  const feeds = (samples: Float32Array): Tensors => {
    const features = bank.features(samples);
    const frames = features.length / mels;
    const dtype = model.inputs.find(({ name }) => name === LENGTH)!.dtype;
    return {
      [SOUND]: { dtype: 'float32', dims: [1, mels, frames], data: transposed(features, frames, mels) },
      [LENGTH]: integers(dtype, [1], [bank.framesOf(samples)]),
    };
  };
  const shared = {
    sampleRate: RATE,
    leastSamples: bank.leastSamples,
    ratio: NEMO_MEL.hop * subsampling,
  };
  if (config['model_type'] === 'nemo-conformer-ctc') {
    const [output] = model.outputs;
    const writer = pieceWriter(new Map(pieces.entries()), blank, NEMO_VOCABULARY);
    checkClasses(writer, output!.name, output!.dims[2]);
    return {
      ...shared,
      ...writer,
      example: () => feeds(new Float32Array(RATE)),
      async hear(samples, { signal }) {
        const heard = frameClasses(await model.run(feeds(samples), { signal }), output!.name);
        // The last frames may be padding.
        return heard.slice(0, Math.ceil(bank.framesOf(samples) / subsampling));
      },
    };
  }
  const joint = await context.open('decoder');
  const decode = openTransducer(joint, {
    blank,
    classes: pieces.length,
    hasDurations: config['model_type'] === 'nemo-conformer-tdt',
    mostTokens: sizeOf('max_tokens_per_step', 10),
  });
  return {
    ...shared,
    example: (node) => (node === 'decoder' ? transducerExample(joint) : feeds(new Float32Array(RATE))),
    async hear(samples, context) {
      const outputs = await model.run(feeds(samples), { signal: context.signal });
      const [count] = numbersOf(outputs, 'encoded_lengths').data;
      return await decode(numbersOf(outputs, 'outputs'), Number(count), context);
    },
    partsOf: (heard) => heard.map(({ id, start, end }) => ({ text: textOfPiece(pieces[id]!), start, end })),
    textOf: joinPieces,
    wordsOf: joinPieceWords,
  };
}

/** @throws `model-config` */
function checkInputs({ inputs }: Session, mels: number): void {
  const dims = inputs.find(({ name }) => name === SOUND)?.dims;
  const isOther = dims?.length !== 3 || (typeof dims[1] === 'number' && dims[1] !== mels);
  if (!isOther && inputs.length === 2 && inputs.some(({ name }) => name === LENGTH)) return;
  throw new TabServeError(
    'model-config',
    `speech_recognizer gives a model of NeMo the inputs "${SOUND}" [rows, ${mels}, frames] and "${LENGTH}" [rows]; this one has ${inputs.map((one) => `"${one.name}" [${one.dims.map((size) => size ?? '?').join(', ')}]`).join(', ')}. Correct features_size in ${HF_CONFIG}, or export the model as onnx-asr describes.`,
  );
}

/**
 * Reads lines of a piece and its number. Two may have the same piece, as those of two languages.
 * @returns the pieces by their numbers
 * @throws `model-config` if they are none, or without the blank
 */
function vocabularyOf(text: string): readonly string[] {
  const pieces: string[] = [];
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '');
  for (const line of lines) {
    const [, piece, id] = /^(.+) (\d+) *$/s.exec(line) ?? [];
    if (piece === undefined || Number(id) >= lines.length || pieces[Number(id)] !== undefined)
      throw underivable(
        NEMO_VOCABULARY,
        'a line',
        line,
        `a piece, a space and its number, each of 0..${lines.length - 1} once`,
        'Take the file of the model that was exported.',
      );
    pieces[Number(id)] = piece;
  }
  if (pieces.includes(BLANK)) return pieces;
  throw underivable(NEMO_VOCABULARY, BLANK, undefined, 'the number of the class that is no piece', '');
}

function transposed(data: Float32Array, rows: number, columns: number): Float32Array {
  const result = new Float32Array(data.length);
  for (let row = 0; row < rows; row++)
    for (let column = 0; column < columns; column++) result[column * rows + row] = data[row * columns + column]!;
  return result;
}
