import type { Signature } from '../../../contract/task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Context } from '../../../contract/handler.js';
import type { Tensors } from '../../../contract/tensors.js';
import { decodeCtc, type ReadText } from './ctc.js';
import { checkFilled, checkRows, numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { toFloats } from '../../tensors/tensors.js';
import { TextLineHandler } from './text-line-handler.js';
import { TEXT_RECOGNIZER_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { BaseHandlerConfig } from '../../handlers/base-handler.js';

/** The least ratio of width to height of a tensor. */
const MIN_RATIO = 320 / 48;

/** The keys of `handler:` that only the config sets. */
export interface TextRecognizerConfig extends BaseHandlerConfig {
  /**
   * The file with the character of each class, one a line, without the blank; the manifest lists it under
   * extensions.
   * @default 'characters.txt'
   */
  readonly charactersFile?: string;
  /**
   * Whether the last class is a space, which the file does not have.
   * @default true
   */
  readonly space?: boolean;
}

/**
 * Reads pictures of one line of text each: PaddleOCR's recognizer, whose output `[rows, steps, classes]` has the
 * probabilities of CTC. The lines of a batch are padded to the longest one.
 * @answer `{ text, score }`, of an image of one line of text
 */
export class TextRecognizer extends TextLineHandler<ReadText> {
  declare readonly configType?: TextRecognizerConfig;
  // PP-OCR's exports: Paddle calls the input x.
  static override readonly nearest: readonly Signature[] = [
    { order: 86, reads: 'images', input: 'x', main: { rank: 3, name: ['softmax', 'softmax_tmp', 'fetch_name'] } },
  ];
  static override readonly schema: ConfigSchema = TEXT_RECOGNIZER_SCHEMA;

  /** The character of each class after the blank. */
  #characters: readonly string[] = [];

  protected override tensorWidth(widest: number): number {
    return Math.trunc(48 * Math.max(MIN_RATIO, widest));
  }

  /** Opens the model and reads the characters. @throws `model-config` if their number is not that of the classes */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const text = await context.files.text(this.setting<string>('charactersFile'));
    const lines = text.split('\n').map((line) => line.replace(/\r$/, ''));
    if (lines.at(-1) === '') lines.pop();
    this.#characters = this.setting<boolean>('space') ? [...lines, ' '] : lines;
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const classes = this.outputInfo.dims.at(-1);
    if (typeof classes === 'number') this.#checkClasses(classes);
  }

  #checkClasses(classes: number): void {
    if (classes === this.#characters.length + 1) return;
    throw new TabServeError(
      'model-config',
      `handler.charactersFile: the model has ${classes} classes, but the file's characters, with the blank${this.setting<boolean>('space') ? ' and the space' : ''}, make ${this.#characters.length + 1}. It belongs to another model, or handler.space is wrong.`,
    );
  }

  /** Reads the text of each line. A row that has a number that is no probability fails with `inference-failed`. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => ReadText {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    const rows = context.systemProperties.batchSize;
    checkRows(name, output, rows);
    const [, steps, classes] = output.dims as readonly [number, number, number];
    if (output.dims.length !== 3)
      throw new TabServeError(
        'model-config',
        `handler.outputName: text_recognizer needs an output [lines, steps, classes], but "${name}" has the dims [${output.dims.join(', ')}]. Name another output.`,
      );
    this.#checkClasses(classes);
    checkFilled(name, output);
    const scores = toFloats(output);
    return (index) => {
      const own = scores.subarray(index * steps * classes, (index + 1) * steps * classes);
      checkScores(own, 'probabilities', false);
      return decodeCtc(own, classes, this.#characters);
    };
  }
}
