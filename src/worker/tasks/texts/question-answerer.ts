import { loadScript } from '../../../shared/load-script.js';
import type { Context } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import { invalidInput, TabServeError } from '../../../contract/errors.js';
import type { Tensors } from '../../../contract/tensors.js';
import { endScores, findAnswers, type Answer, type AnswerWindow } from './answers.js';
import type { AnswerExplanation } from '../../outputs/explanation.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores } from '../../outputs/scores.js';
import { toFloats } from '../../tensors/tensors.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { isRecord, type ConfigSchema } from '../../../shared/schema.js';
import { readText } from '../../text/read-text.js';
import type { Encoding } from '../../text/tokenizer.js';
import type { AnswerExplainParams } from '../../handlers/explain.js';
import { EXPLAINERS } from '../../handlers/registry.js';
import type { Row as RowOf } from '../../handlers/row.js';
import { TextHandler, type TextParams } from '../../handlers/text-handler.js';
import { floatOutput } from '../../outputs/floats.js';
import { ANSWER_EXPLAIN_PARAMS_SCHEMA, QUESTION_ANSWERER_SCHEMA } from './schemas.js';

export type { Answer } from './answers.js';

/** The input of one row: a question, and the text that answers it. */
export interface QuestionInput {
  readonly question: string;
  readonly context: string;
}

/** The `params` of `question_answerer`. */
export interface QuestionAnswererParams extends TextParams {
  /**
   * The largest number of answers.
   * @integer
   * @minimum 1
   * @default 1
   */
  readonly topK?: number;
  /**
   * The largest number of tokens in an answer.
   * @integer
   * @minimum 1
   * @default 15
   */
  readonly maxAnswerLength?: number;
  /**
   * The number of tokens that two windows share, if question and context have more tokens than maxLength, or
   * without it than 384. Default: 128, and at most half of that length.
   * @integer
   * @minimum 0
   */
  readonly stride?: number;
  /**
   * Whether "no answer" is one: an empty text.
   * @default false
   */
  readonly handleImpossibleAnswer?: boolean;
  /**
   * Whether answers begin and end with words. Turn it off for languages without spaces.
   * @default true
   */
  readonly alignToWords?: boolean;
}

/** The largest number of tokens that the model gets at once, unless `maxLength` says so. */
const MAX_TOKENS = 384;
const MAX_STRIDE = 128;
const OUTPUTS = ['start_logits', 'end_logits'] as const;

/**
 * Finds the answer to a question in a text, of any length: that of transformers' pipeline `question-answering`. The
 * model's outputs `start_logits` and `end_logits`, `[rows, tokens]`, say where an answer begins and ends.
 * @sample { "input": { "question": "Where did Ada Lovelace live?", "context": "Ada Lovelace lived in London, and
 *   wrote the first program for a machine of Charles Babbage. Grace Hopper was born in New York, and wrote one of
 *   the first compilers." }, "params": { "topK": 3 } }
 * @input `{ question, context }`
 * @answer `[{ answer, score, start, end }, …]`, best first, for the input `{ question, context }`;
 *   `context.slice(start, end)` is the answer
 */
export class QuestionAnswerer extends TextHandler<readonly Answer[], AnswerExplanation, QuestionInput> {
  declare readonly paramsType?: QuestionAnswererParams;
  declare readonly explainParamsType?: AnswerExplainParams;

  static override readonly explainSchema: ConfigSchema = ANSWER_EXPLAIN_PARAMS_SCHEMA;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForQuestionAnswering'],
    processor: 'tokenizer',
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 120, reads: 'texts', outputs: ['start_logits', 'end_logits'] },
  ];

  static override readonly schema: ConfigSchema = QUESTION_ANSWERER_SCHEMA;

  readonly #contexts = new WeakMap<Encoding, string>();

  /**
   * Opens the model, and checks its outputs.
   * @throws `model-config` if it has no outputs `start_logits` and `end_logits` `[rows, tokens]`
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    const { outputs } = this.model;
    if (!OUTPUTS.every((wanted) => outputs.some(({ name, dims }) => name === wanted && dims.length === 2)))
      throw new TabServeError(
        'model-config',
        `question_answerer needs the outputs ${OUTPUTS.join(' and ')}, [rows, tokens]; the model's outputs are ${outputs.map(({ name, dims }) => `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`).join(', ')}. Export it for question answering.`,
      );
    for (const wanted of OUTPUTS)
      floatOutput(
        outputs.find(({ name }) => name === wanted)!,
        [],
        this.config,
      );
  }

  protected override async encodeRow(
    input: QuestionInput,
    index: number,
    context: Context,
  ): Promise<readonly Encoding[]> {
    const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
    if (!isRecord(input) || !isText(input.question) || !isText(input.context))
      throw new TabServeError('invalid-input', 'Expected { question, context }: two texts, neither of them empty.');
    checkKeys(input, ['question', 'context']);
    const { text, textPair } = await readText({ text: input.question, textPair: input.context });
    const isSet = this.param<number | undefined>('maxLength', index, context) !== undefined;
    const limit = Math.min(this.tokenLimit(index, context), isSet ? Infinity : MAX_TOKENS);
    const stride =
      this.param<number | undefined>('stride', index, context) ?? Math.min(Math.floor(limit / 2), MAX_STRIDE);
    const windows = this.tokenizer.windows(text, textPair, limit, stride);
    for (const window of windows) this.#contexts.set(this.filled(window), textPair!);
    return windows;
  }

  /** Converts the model's outputs, `[rows, tokens]`, to the answers of each question. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => readonly Answer[] {
    const windows = this.#windows(outputs, context);
    return (index) =>
      findAnswers(this.#contextOf(index, context), windows(index), {
        topK: this.param('topK', index, context),
        maxAnswerLength: this.param('maxAnswerLength', index, context),
        handleImpossibleAnswer: this.param('handleImpossibleAnswer', index, context),
        alignToWords: this.param('alignToWords', index, context),
      });
  }

  #contextOf(index: number, context: Context): string {
    return this.#contexts.get(this.modelRows(index, context)!.encodings[0]!)!;
  }

  /** Explains the start and the end of the best answer: by how much the probability of each falls without each word. */
  protected override async explainRows(
    _inputs: Tensors,
    data: readonly RowOf<QuestionInput>[],
    context: Context,
  ): Promise<readonly AnswerExplanation[]> {
    const { explainTexts } = await loadScript(EXPLAINERS.texts);
    const explanations = await explainTexts(
      {
        read: ({ question, context: text }: QuestionInput) => ({ question, context: text }),
        choose: (outputs, _words, _params, rows) => {
          const [best] = findAnswers(this.#contextOf(0, rows), this.#windows(outputs, rows)(0), {
            topK: 1,
            maxAnswerLength: this.param('maxAnswerLength', 0, rows),
            handleImpossibleAnswer: false,
            alignToWords: this.param('alignToWords', 0, rows),
          });
          if (!best) throw invalidInput('The model finds no answer in this context, so there is none to explain.');
          const { answer, start, end } = best;
          return {
            about: { answer, start, end },
            scores: (outputs, variants, rows) => {
              const windows = this.#windows(outputs, rows);
              return variants.map(({ find }, index) => {
                // An answer cannot start in a word that was left out, nor end in it.
                const [first, last] = [start, end - 1].map((at) => find({ start: at, end: at + 1, of: 'context' }));
                const [startScore, endScore] = endScores(windows(index), first?.start ?? -1, last?.end ?? 0);
                return [startScore, endScore];
              });
            },
          };
        },
        preprocess: (rows, own) => this.preprocess(rows, own),
        inference: (inputs, own) => this.inference(inputs, own),
      },
      data,
      context,
    );
    return explanations.map(
      (one) =>
        one && {
          ...one.about,
          method: 'leave-one-out',
          startScore: one.scores[0],
          endScore: one.scores[1],
          words: one.words.map(({ falls: [startWeight, endWeight], ...word }) => ({ ...word, startWeight, endWeight })),
        },
    ) as AnswerExplanation[];
  }

  #windows(outputs: Tensors, context: Context): (index: number) => readonly AnswerWindow[] {
    const [starts, ends] = OUTPUTS.map((name) => toFloats(numbersOf(outputs, name))) as [Float32Array, Float32Array];
    const tokens = numbersOf(outputs, OUTPUTS[0]).dims[1]!;
    return (index) => {
      const { first, encodings } = this.modelRows(index, context)!;
      return encodings.map(({ ids, spans }, part): AnswerWindow => {
        const from = (first + part) * tokens + this.tokenSpan(index, context, part)!.start;
        const [startLogits, endLogits] = [starts, ends].map((logits) => logits.subarray(from, from + ids.length)) as [
          Float32Array,
          Float32Array,
        ];
        checkScores(startLogits, 'logits', false);
        checkScores(endLogits, 'logits', false);
        return {
          startLogits,
          endLogits,
          spans: spans!.map((span) => (span?.text === 1 ? span : undefined)),
          classTokens: ids.flatMap((id, at) => (id === this.tokenizer.classId ? [at] : [])),
        };
      });
    };
  }

  protected override emptyResult: readonly Answer[] = [];
}
