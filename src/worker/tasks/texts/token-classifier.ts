import { loadScript } from '../../../shared/load-script.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import { findEntities, mergeWindows, type AggregationStrategy, type Entity, type ScoredToken } from './entities.js';
import { findWord, wordScores } from './label-of-word.js';
import type { TokenExplanation } from '../../outputs/explanation.js';
import { checkLabels, labelOf } from '../../outputs/labels.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores, softmax } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { readText } from '../../text/read-text.js';
import type { Encoding } from '../../text/tokenizer.js';
import type { TokenExplainParams } from '../../handlers/explain.js';
import { EXPLAINERS } from '../../handlers/registry.js';
import type { Row as RowOf } from '../../handlers/row.js';
import { TextHandler, type TextInput, type TextParams } from '../../handlers/text-handler.js';
import { floatOutput } from '../../outputs/floats.js';
import { TOKEN_CLASSIFIER_SCHEMA, TOKEN_EXPLAIN_PARAMS_SCHEMA } from './schemas.js';

export type { AggregationStrategy, Entity } from './entities.js';

/** The `params` of `token_classifier`. */
export interface TokenClassifierParams extends TextParams {
  /**
   * How tokens become entities. none: each token is one; simple: tokens in a row with the same label are one, and
   * B- begins another; first, average, max: the same, and all tokens of a word have one label: its first token's,
   * that with the highest mean probability, or that of its likeliest token.
   * @default 'none'
   */
  readonly aggregationStrategy?: AggregationStrategy;
  /**
   * The labels that a result leaves out.
   * @default ['O']
   */
  readonly ignoreLabels?: readonly string[];
  /**
   * The number of tokens that two windows of a text share, if the text has more than maxLength tokens. Without it,
   * such a text is truncated, with a warning. Not with the aggregationStrategy none.
   * @integer
   * @minimum 0
   */
  readonly stride?: number;
}

/**
 * Labels the tokens of a text, or finds the entities in it, such as names: those of transformers' pipeline
 * `token-classification`. The model's output `[rows, tokens, labels]` holds logits.
 * @sample { "input": "Ada Lovelace lived in London, and wrote the first program for a machine of Charles Babbage.",
 *   "params": { "aggregationStrategy": "simple" } }
 * @answer `[{ label, score, word, start, end, index? }, …]` in the order of the text; `text.slice(start, end)` is the
 *   token, whose index among the model's tokens is `index`, or the entity, without `index`, with another
 *   `aggregationStrategy` than `none`, such as `simple`
 */
export class TokenClassifier extends TextHandler<readonly Entity[], TokenExplanation> {
  declare readonly paramsType?: TokenClassifierParams;
  declare readonly explainParamsType?: TokenExplainParams;

  static override readonly explainSchema: ConfigSchema = TOKEN_EXPLAIN_PARAMS_SCHEMA;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForTokenClassification'],
    processor: 'tokenizer',
    hasClasses: true,
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 200, reads: 'texts', main: { rank: 3, lastBelow: 1000 } },
  ];

  static override readonly schema: ConfigSchema = TOKEN_CLASSIFIER_SCHEMA;

  readonly #texts = new WeakMap<Encoding, string>();

  /**
   * Opens the model, and checks its output.
   * @throws `model-config` if the output does not hold a number for each label of each token, or if the labels do not
   *   fit
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const { name, dims } = this.outputInfo;
    const labels = dims.at(-1);
    if (dims.length !== 3)
      throw new TabServeError(
        'model-config',
        `handler.outputName: token_classifier needs [rows, tokens, labels], but the output "${name}" has the dims [${dims.map((size) => size ?? '?').join(', ')}]. Name another output.`,
      );
    if (typeof labels === 'number') checkLabels(this.mapping, labels);
  }

  protected override async encodeRow(input: TextInput, index: number, context: Context): Promise<readonly Encoding[]> {
    const { text, textPair } = await readText(input);
    if (textPair !== undefined)
      throw new TabServeError('invalid-input', 'textPair: token_classifier takes one text. Pass a text alone.');
    const stride = this.param<number | undefined>('stride', index, context);
    if (stride !== undefined && this.#strategy(index, context) === 'none')
      throw new TabServeError(
        'invalid-input',
        'stride: with the aggregationStrategy none, a token of two windows would be there twice. Use another strategy.',
      );
    const limit = this.tokenLimit(index, context);
    const encodings =
      stride === undefined
        ? [this.#truncated(text, limit, context)]
        : this.tokenizer.windows(text, undefined, limit, stride);
    for (const encoding of encodings) this.#texts.set(this.filled(encoding), text);
    return encodings;
  }

  #truncated(text: string, limit: number, context: Context): Encoding {
    const encoding = this.tokenizer.locate(text, limit);
    if (encoding.isTruncated)
      context.warn(
        'token_classifier: a text has more tokens than the limit, and was truncated. Set stride to read all.',
      );
    return encoding;
  }

  /** Converts the model's output, `[rows, tokens, labels]`, to the entities of each text. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => readonly Entity[] {
    const windows = this.#windows(outputs, context);
    return (index) => {
      const strategy = this.#strategy(index, context);
      const ignored = this.param<readonly string[]>('ignoreLabels', index, context);
      const parts = windows(index);
      const found = parts.flatMap((tokens) =>
        findEntities(tokens, {
          strategy,
          labelOf: (label) => labelOf(this.mapping, label),
          join: (words) => this.tokenizer.detokenizer.join(words, false),
        }),
      );
      const wanted = found.filter(({ label }) => !ignored.includes(label));
      return parts.length > 1 ? mergeWindows(wanted) : wanted;
    };
  }

  /** Returns the tokens of each window of a text. */
  #windows(outputs: Tensors, context: Context): (index: number) => readonly (readonly ScoredToken[])[] {
    const output = numbersOf(outputs, this.outputInfo.name);
    const [, tokens, labels] = output.dims as [number, number, number];
    const logits = toFloats(output);
    return (index) => {
      const { first, encodings } = this.modelRows(index, context)!;
      return encodings.map((encoding, part) => {
        const from = (first + part) * tokens + this.tokenSpan(index, context, part)!.start;
        const own = logits.subarray(from * labels, (from + encoding.ids.length) * labels);
        checkScores(own, 'logits', false);
        return this.#tokens(encoding, own, labels);
      });
    };
  }

  /** Explains the label of a word: by how much its probability falls without each word. */
  protected override async explainRows(
    _inputs: Tensors,
    data: readonly RowOf<TextInput>[],
    context: Context,
  ): Promise<readonly TokenExplanation[]> {
    const { explainTexts, findTarget, wordWeights } = await loadScript(EXPLAINERS.texts);
    const explanations = await explainTexts(
      {
        read: async (input: TextInput) => ({ text: (await readText(input)).text }),
        choose: (outputs, words, { target, position }, rows) => {
          const ignored = this.param<readonly string[]>('ignoreLabels', 0, rows);
          const tokens = this.#windows(outputs, rows)(0);
          const best = findWord(words, tokens, {
            position: position as number | undefined,
            isIgnored: (label) => ignored.includes(labelOf(this.mapping, label)),
          });
          const wanted = (target ?? best.label) as TokenExplainParams['target'];
          const { word, start, end } = best.word;
          const about = { ...findTarget(wanted, best.scores, this.mapping), word, start, end };
          return {
            about,
            scores: (outputs, variants, rows) => {
              const windows = this.#windows(outputs, rows);
              return variants.map(({ find }, index) => {
                const there = find(best.word);
                // A word that was left out has no label.
                return [(there && wordScores(there, windows(index))?.[about.index]) ?? 0];
              });
            },
          };
        },
        preprocess: (texts, rows) => this.preprocess(texts, rows),
        inference: (inputs, rows) => this.inference(inputs, rows),
      },
      data,
      context,
    );
    return explanations.map((one) => one && wordWeights(one)) as TokenExplanation[];
  }

  /** Returns the tokens of an encoding that are part of its text. */
  #tokens(encoding: Encoding, logits: Float32Array, labels: number): readonly ScoredToken[] {
    const { unknownId, wordPrefix } = this.tokenizer;
    const text = this.#texts.get(encoding)!;
    return encoding.ids.flatMap((id, at) => {
      const span = encoding.spans![at];
      if (!span) return [];
      const { start, end } = span;
      const written = text.slice(start, end);
      const token = this.tokenizer.tokenOf(id) ?? '';
      const isUnknown = id === unknownId;
      // Without a mark at tokens within words, transformers looks for a space.
      const continues = wordPrefix
        ? [...token].length !== [...written].length
        : start > 0 && !text.slice(start - 1, start + 1).includes(' ');
      const scores = softmax(logits.subarray(at * labels, (at + 1) * labels));
      return [{ word: isUnknown ? written : token, scores, start, end, index: at, continues: continues && !isUnknown }];
    });
  }

  #strategy(index: number, context: Context): AggregationStrategy {
    return this.param('aggregationStrategy', index, context);
  }

  protected override emptyResult: readonly Entity[] = [];
}
