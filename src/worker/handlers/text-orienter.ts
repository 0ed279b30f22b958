import type { Context } from '../../contract/handler.js';
import type { Tensors } from '../../contract/tensors.js';
import type { ConfigSchema } from '../../shared/schema.js';
import { TabServeError } from '../../contract/errors.js';
import { checkRows, numbersOf } from '../outputs/rows.js';
import { checkScores } from '../outputs/scores.js';
import { toFloats } from '../tensors/tensors.js';
import { TextLineHandler } from './text-line-handler.js';

/** The width of a line's tensor, in pixels. A longer line is squeezed. */
const WIDTH = 192;

/** Whether a line of text is upside down. */
export interface LineOrientation {
  readonly upsideDown: boolean;
  /** The probability that it is upside down, in 0..1. */
  readonly score: number;
}

/**
 * Says which pictures of a line of text are upside down: PaddleOCR's angle classifier, whose output `[rows, 2]` has the
 * probabilities of 0° and 180°.
 * @answer `{ upsideDown, score }`, of an image of one line of text
 */
export class TextOrienter extends TextLineHandler<LineOrientation> {
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
