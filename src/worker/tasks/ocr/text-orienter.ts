import type { Context } from '../../../contract/handler.js';
import type { Tensors } from '../../../contract/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { TabServeError } from '../../../contract/errors.js';
import { checkRows, numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { LINE_FORM, TextLineHandler, type LineForm } from './text-line-handler.js';
import { TEXT_ORIENTER_SCHEMA } from './schemas.js';
import { floatOutput } from '../../outputs/floats.js';
import type { BaseHandlerConfig } from '../../handlers/base-handler.js';

/** Whether a line of text is upside down. */
export interface LineOrientation {
  readonly upsideDown: boolean;
  /** The probability that it is upside down, in 0..1. */
  readonly score: number;
}

/** The `params` of `text_orienter`. */
export interface TextOrienterParams {
  /**
   * The probability above which a line counts as upside down.
   * @minimum 0
   * @maximum 1
   * @default 0.9
   */
  readonly minScore?: number;
}

/** The keys of `handler:` that only the config sets. */
export interface TextOrienterConfig extends BaseHandlerConfig {
  /**
   * The height and width of the model's input, in pixels.
   * @default [48, 192]
   * @items {"type":"integer","minimum":1,"maximum":4096}
   */
  readonly size?: readonly [number, number];
  /**
   * Whether a line keeps its aspect ratio, with zeros on the right, unless it is too long. If not, it is scaled to the
   * whole input.
   * @default true
   */
  readonly keepsRatio?: boolean;
  /**
   * The order of the input's channels.
   * @default 'BGR'
   */
  readonly colorOrder?: 'RGB' | 'BGR';
  /**
   * What is subtracted from each channel, in 0..1, in the order of the channels.
   * @default [0.5, 0.5, 0.5]
   */
  readonly mean?: readonly [number, number, number];
  /**
   * What each channel is then divided by.
   * @default [0.5, 0.5, 0.5]
   * @items {"type":"number","exclusiveMinimum":0}
   */
  readonly std?: readonly [number, number, number];
}

/**
 * Says which pictures of a line of text are upside down: PaddleOCR's classifiers of lines, whose output `[rows, 2]` has the
 * probabilities of 0° and 180°. The defaults are those of PP-OCRv4's.
 * @answer `{ upsideDown, score }`, of an image of one line of text
 */
export class TextOrienter extends TextLineHandler<LineOrientation> {
  declare readonly paramsType?: TextOrienterParams;
  declare readonly configType?: TextOrienterConfig;
  static override readonly schema: ConfigSchema = TEXT_ORIENTER_SCHEMA;

  #form: LineForm = LINE_FORM;

  protected override get form(): LineForm {
    return this.#form;
  }

  protected override tensorWidth(): number {
    return this.setting<readonly number[]>('size')[1]!;
  }

  /** Opens the model. @throws `model-config` if its input has another size, or its output has not two classes */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const size = this.setting<readonly number[]>('size');
    this.#form = {
      height: size[0]!,
      keepsRatio: this.setting('keepsRatio'),
      colorOrder: this.setting('colorOrder'),
      mean: this.setting('mean'),
      std: this.setting('std'),
    };
    const own = this.inputInfo.dims.slice(-2);
    if (own.some((side, axis) => typeof side === 'number' && side !== size[axis]))
      throw new TabServeError(
        'model-config',
        `handler.size: it is [${size.join(', ')}], and the model's input "${this.inputInfo.name}" is ${own.map((side) => side ?? '?').join(' × ')}. Set the model's own height and width. PP-OCRv5's model of 80 × 160 needs other keys, too: docs/model-config.md has them.`,
      );
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const classes = this.outputInfo.dims.at(-1);
    if (typeof classes === 'number') this.#checkClasses(classes);
  }

  #checkClasses(classes: number): void {
    if (classes === 2) return;
    throw new TabServeError(
      'model-config',
      `handler.outputName: text_orienter needs an output with two classes, 0° and 180°, but "${this.outputInfo.name}" has ${classes}.`,
    );
  }

  /** Compares the scores of each line. A row that has a number that is no probability fails with `inference-failed`. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => LineOrientation {
    const { name } = this.outputInfo;
    const rows = context.systemProperties.batchSize;
    const output = numbersOf(outputs, name);
    checkRows(name, output, rows);
    const scores = toFloats(output);
    this.#checkClasses(scores.length / rows);
    return (index) => {
      const own = scores.subarray(2 * index, 2 * index + 2);
      const [upright, turned] = own as unknown as readonly [number, number];
      checkScores(own, 'probabilities', false);
      const least = this.param<number>('minScore', index, context);
      return { upsideDown: turned > upright && turned > least, score: turned };
    };
  }
}
