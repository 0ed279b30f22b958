import { shorten } from '../../../contract/describe-value.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import { numbersOf, rowPart } from '../../outputs/rows.js';
import { checkScores, softmax, topK } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import type { Encoding } from '../../text/tokenizer.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { TextHandler, type TextParams } from '../../handlers/text-handler.js';
import { floatOutput } from '../../outputs/floats.js';
import { FILL_MASK_SCHEMA } from './schemas.js';

/** The `params` of `fill_mask`. */
export interface FillMaskParams extends TextParams {
  /**
   * The largest number of candidates for each mask.
   * @integer
   * @minimum 1
   * @default 5
   */
  readonly topK?: number;
  /**
   * The only words that are candidates, each of them one token. Default: all tokens.
   * @minItems 1
   */
  readonly targets?: readonly string[];
}

/** What may replace a mask. */
export interface FilledMask {
  /** The token's text. */
  readonly label: string;
  /** Its probability among all tokens of the vocabulary, in 0..1. */
  readonly score: number;
  /** Its number in the vocabulary. */
  readonly token: number;
  /**
   * The whole text with this token instead of the mask. Of several masks, the others stay, and so do special tokens.
   */
  readonly sequence: string;
}

/**
 * Returns the words that may stand where a text has the tokenizer's mask, such as `[MASK]` or `<mask>`: those of
 * transformers' pipeline `fill-mask`. The model's output `[rows, tokens, vocabulary]` holds logits.
 * @sample { "input": "Paris is the [MASK] of France.", "params": { "topK": 5 } }
 * @answer for each mask of the text, in their order, `[{ label, score, token, sequence }, …]`, best first
 */
export class FillMask extends TextHandler<readonly (readonly FilledMask[])[]> {
  declare readonly paramsType?: FillMaskParams;

  static override readonly huggingFace: HuggingFaceTask = { architectures: ['ForMaskedLM'], processor: 'tokenizer' };

  static override readonly schema: ConfigSchema = FILL_MASK_SCHEMA;

  static override readonly nearest: readonly Signature[] = [{ order: 210, reads: 'texts', main: { rank: 3 } }];

  /** What stands for a missing word in a text. */
  #mask!: number;

  /**
   * Opens the model, and finds the tokenizer's mask.
   * @throws `model-config` if the tokenizer has none, or if the output does not hold a number for each token of the
   *   vocabulary
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const { name, dims } = this.outputInfo;
    if (dims.length !== 3)
      throw new TabServeError(
        'model-config',
        `handler.outputName: fill_mask needs [rows, tokens, vocabulary], but the output "${name}" has the dims [${dims.map((size) => size ?? '?').join(', ')}]. Name another output.`,
      );
    if (typeof dims[2] === 'number') this.#checkVocabulary(dims[2]);
    const { maskId } = this.tokenizer;
    if (maskId === undefined)
      throw new TabServeError(
        'model-config',
        'tokenizer_config.json has no mask_token, which stands for a missing word. The model was not trained to fill masks, or the file is not the one that it was trained with.',
      );
    this.#mask = maskId;
  }

  protected override rowResults(
    outputs: Tensors,
    context: Context,
  ): (index: number) => readonly (readonly FilledMask[])[] {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    const { batchSize } = context.systemProperties;
    this.#checkVocabulary(output.dims.at(-1)!);
    return (index) => {
      const [{ ids }] = this.modelRows(index, context)!.encodings as [Encoding];
      const { start } = this.tokenSpan(index, context)!;
      const masks = ids.flatMap((id, at) => (id === this.#mask ? [at] : []));
      if (masks.length === 0) throw this.#noMask();
      const part = rowPart(name, output, index, batchSize);
      const size = part.dims[1]!;
      const logits = toFloats(part);
      const targets = this.#targets(index, context);
      return masks.map((at) => {
        const own = logits.subarray((start + at) * size, (start + at + 1) * size);
        checkScores(own, 'logits', false);
        const scores = softmax(own);
        const wanted = targets ?? [...scores.keys()];
        const best = topK(
          wanted.map((token) => scores[token]!),
          this.param('topK', index, context),
        );
        return best.map(({ index: rank, score }) => {
          const token = wanted[rank]!;
          const sequence = this.tokenizer.decode(ids.with(at, token), masks.length > 1);
          return { label: this.tokenizer.decode([token], true), score, token, sequence };
        });
      });
    };
  }

  /** @param found how many numbers the output has for each token of a text @throws `model-config` if they are too few */
  #checkVocabulary(found: number): void {
    if (this.tokenizer.tokenOf(found) === undefined) return;
    throw new TabServeError(
      'model-config',
      `handler.outputName: fill_mask needs a number for each token of the vocabulary, but the output "${this.outputInfo.name}" has ${found} for each token of a text, and the vocabulary has more. Name another output, or use the handler that the model was made for.`,
    );
  }

  #noMask(): TabServeError {
    const mask = this.tokenizer.decode([this.#mask], true);
    return new TabServeError(
      'invalid-input',
      `The text has no ${mask}, or it was truncated. Write ${mask} where a word is missing.`,
    );
  }

  /** Returns the tokens that are candidates for row `index`; undefined for all. @throws `invalid-input` naming a word */
  #targets(index: number, context: Context): readonly number[] | undefined {
    const words = this.param<readonly string[] | undefined>('targets', index, context);
    if (!words) return undefined;
    const tokens = words.map((word) => {
      const [first, second] = this.tokenizer.tokensOf(word, 2);
      const token = this.tokenizer.idOf(word) ?? (second === undefined ? first : undefined);
      if (token !== undefined && token !== this.tokenizer.unknownId) return token;
      throw new TabServeError(
        'invalid-input',
        `targets: "${shorten(word)}" is not one token of the vocabulary. Use words that are.`,
      );
    });
    return [...new Set(tokens)];
  }
}
