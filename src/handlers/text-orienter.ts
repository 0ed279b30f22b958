import type { Context, MaybePromise } from '../contract/handler.js';
import type { Tensors } from '../contract/tensors.js';
import type { ConfigSchema } from '../shared/schema.js';
import { TabServeError } from '../contract/errors.js';
import { TextLineHandler } from './text-line-handler.js';

/** The width of a line's tensor, in pixels. A longer line is squeezed. */
const WIDTH = 192;

/** Whether a line of text is upside down. */
export interface LineOrientation {
  readonly upsideDown: boolean;
  /** The probability that it is upside down, in 0..1. */
  readonly score: number;
}

/** Says which pictures of a line of text are upside down: PaddleOCR's angle classifier, whose output `[rows, 2]` has the probabilities of 0° and 180°. */
export class TextOrienter extends TextLineHandler {
  static override readonly schema: ConfigSchema = {
    minScore: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'The probability above which a line counts as upside down.',
      default: 0.9,
    },
  };

  protected override tensorWidth(): number {
    return WIDTH;
  }

  /** Opens the model. @throws `model-config` if its output has not two classes */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const classes = this.outputInfo.dims.at(-1);
    if (typeof classes === 'number' && classes !== 2)
      throw new TabServeError(
        'model-config',
        `handler.outputName: text_orienter needs an output with two classes, 0° and 180°, but "${this.outputInfo.name}" has ${classes}.`,
      );
  }

  override postprocess<Row extends LineOrientation = LineOrientation>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess<Row extends LineOrientation = LineOrientation>(
    outputs: Tensors,
    context: Context,
  ): MaybePromise<readonly Row[]>;
  override postprocess(outputs: Tensors, context: Context): MaybePromise<readonly unknown[]> {
    const data = outputs[this.outputInfo.name]!.data as Float32Array;
    return Array.from({ length: context.systemProperties.batchSize }, (_, index): LineOrientation => {
      const [upright, turned] = [data[2 * index]!, data[2 * index + 1]!];
      const least = this.param<number>('minScore', index, context);
      return { upsideDown: turned > upright && turned > least, score: turned };
    });
  }
}
