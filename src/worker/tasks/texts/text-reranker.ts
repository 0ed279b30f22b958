import { describeValue } from '../../../contract/describe-value.js';
import type { Context, ResultKind } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import { TabServeError } from '../../../contract/errors.js';
import type { TensorInfo, Tensors } from '../../../contract/tensors.js';
import type { YesOrNo } from '../../generation/yes-or-no.js';
import { numbersOf } from '../../outputs/rows.js';
import { checkScores, logistic, topK } from '../../outputs/scores.js';
import { from, toFloats } from '../../tensors/tensors.js';
import { checkKeys } from '../../../shared/check-keys.js';
import { loadScript } from '../../../shared/load-script.js';
import { HF_CONFIG } from '../../../shared/model-url.js';
import { underivable } from '../../../shared/hugging-face.js';
import { isRecord, type ConfigSchema } from '../../../shared/schema.js';
import { readText } from '../../text/read-text.js';
import type { Encoding } from '../../text/tokenizer.js';
import { declareStandard } from '../../handlers/handler-contract.js';
import { TextHandler, type TextParams } from '../../handlers/text-handler.js';
import { floatOutput } from '../../outputs/floats.js';
import { INSTRUCTION, judgementOf, MAX_TOKENS, type Judgement } from './judgement.js';
import { TEXT_RERANKER_SCHEMA } from './schemas.js';

/** The input of one row: what is searched for, and the texts to rank. */
export interface RankingInput {
  readonly query: string;
  readonly texts: readonly string[];
}

/** The `params` of `text_reranker`. */
export interface TextRerankerParams extends TextParams {
  /**
   * The largest number of texts in a result. Default: all texts.
   * @integer
   * @minimum 1
   */
  readonly topK?: number;
  /**
   * What converts the model's number to a score: sigmoid (a number in 0..1), or nothing (identity).
   * @default 'sigmoid'
   */
  readonly activation?: 'sigmoid' | 'identity';
  /**
   * What a language model is told to look for, such as "Given a question, retrieve passages that answer it". Default:
   * what the card of Qwen3-Reranker says. Other models take none.
   */
  readonly instruction?: string;
}

/** A text with its score. */
export interface RankedText {
  /** The text's index in `texts`, from 0. */
  readonly index: number;
  /** In 0..1 with `activation: 'sigmoid'`; any number with `identity`. */
  readonly score: number;
}

/**
 * Ranks texts by how well they answer a query, as `rank` of sentence-transformers' `CrossEncoder` does: the model reads
 * the query and each text together. Its output `[rows, 1]` holds a number for each pair. A repository of
 * sentence-transformers names its own `activation`.
 *
 * A language model, such as Qwen3-Reranker, reads the prompt of that model's card, and its number is the logit of "yes"
 * minus that of "no". What the texts of a query have in common runs once.
 *
 * A repository is opened so if its name says that it ranks (`Qwen3-Reranker-0.6B-ONNX`, `jina-reranker-v1-turbo-en`).
 * @sample { "input": { "query": "How do I get a new password?", "texts": ["You can return an article within 30
 *   days.", "Your password is reset by a link in an e-mail.", "We deliver to all countries of the EU."] } }
 * @input `{ query, texts }`
 * @answer `[{ index, score }, …]`, best first; `index` is the text's index in the input `{ query, texts }`
 */
export class TextReranker extends TextHandler<readonly RankedText[], unknown, RankingInput> {
  declare readonly paramsType?: TextRerankerParams;

  static override readonly makes: ResultKind = 'ranking';
  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForSequenceClassification'],
    keys: ['sentence_transformers', 'sbert_ce_default_activation_function'],
    processor: 'tokenizer',
    /** Applies the rules of sentence-transformers' `CrossEncoder`. */
    handlerConfig(config, own) {
      const settings = config['sentence_transformers'];
      const name =
        (isRecord(settings) ? settings['activation_fn'] : undefined) ?? config['sbert_ce_default_activation_function'];
      if (own['activation'] !== undefined || name === undefined || name === null) return {};
      const activation = { Sigmoid: 'sigmoid', Identity: 'identity' }[String(name).split('.').at(-1)!];
      if (activation) return { activation };
      throw underivable(HF_CONFIG, 'activation_fn', name, 'Sigmoid or Identity of torch.nn', 'Set handler.activation.');
    },
  };

  static override readonly schema: ConfigSchema = TEXT_RERANKER_SCHEMA;

  /** Of a language model. */
  #judge: YesOrNo | undefined;

  /**
   * Opens the model.
   * @throws `model-config` if its output has more than one number for each pair, and it is no language model either
   */
  override async initialize(context: Context): Promise<void> {
    const keeps = (output: string): boolean => output === 'logits' || output.startsWith('present');
    await super.initialize({ ...context, open: (name) => context.open(name, { keeps, lastTokenOf: 'logits' }) });
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    const { name, dims } = this.outputInfo;
    const count = dims.at(-1);
    if (name === 'logits' && dims.length === 3) {
      const Judge = await loadScript(async () => (await import('../../generation/yes-or-no.js')).YesOrNo);
      this.#judge = new Judge(this.model, this.tokenizer);
    } else if (this.config['instruction'] !== undefined) {
      throw new TabServeError('model-config', `handler.instruction: ${NO_INSTRUCTION}`);
    } else if (dims.length > 2 || (dims.length === 2 && typeof count === 'number' && count !== 1)) {
      throw severalNumbers(name, dims);
    }
  }

  protected override async encodeRow(
    input: RankingInput,
    index: number,
    context: Context,
  ): Promise<readonly Encoding[]> {
    if (!isRecord(input) || typeof input.query !== 'string' || !Array.isArray(input.texts) || input.texts.length === 0)
      throw new TabServeError('invalid-input', 'Expected { query, texts }: a text, and a list of one text or more.');
    checkKeys(input, ['query', 'texts']);
    const wrong = input.texts.findIndex((text: unknown) => typeof text !== 'string');
    if (wrong >= 0)
      throw new TabServeError(
        'invalid-input',
        `texts[${wrong}]: expected a text, got ${describeValue(input.texts[wrong])}.`,
      );
    const instruction = this.param<string | undefined>('instruction', index, context);
    if (instruction !== undefined && !this.#judge)
      throw new TabServeError('invalid-input', `params.instruction: ${NO_INSTRUCTION}`);
    const pairs = input.texts.map(async (textPair: unknown) => await readText({ text: input.query, textPair }));
    const texts = await Promise.all(pairs);
    if (!this.#judge) return texts.map(({ text, textPair }) => this.encode(text, textPair, index, context));
    const most = Math.min(this.tokenLimit(index, context), MAX_TOKENS);
    return texts.map(({ text: query, textPair }) => {
      const asked = { query, text: textPair!, instruction: instruction ?? INSTRUCTION };
      return this.checked(judgementOf(asked, this.tokenizer, most), most, context);
    });
  }

  protected override inputsOf(rows: readonly Encoding[]): Tensors {
    return this.#judge ? {} : super.inputsOf(rows);
  }

  /** Runs the model on all pairs at once, or a language model on one after the other. */
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const judge = this.#judge;
    if (!judge || !this.modelRows(0, context)) return await super.inference(inputs, context);
    const numbers: number[] = [];
    for (let row = 0; row < context.systemProperties.batchSize; row++) {
      const judgements = this.modelRows(row, context)!.encodings as readonly Judgement[];
      const prompts = judgements.map(({ ids }) => ids);
      numbers.push(...(await judge.ask(prompts, judgements[0]!.head, context)));
    }
    const data = Float32Array.from(numbers);
    return { [this.outputInfo.name]: from({ dtype: 'float32', dims: [data.length, 1], data }) };
  }

  static {
    declareStandard(this.prototype.inference);
  }

  /** Converts the model's output, `[rows, 1]`, to the texts of each row. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => readonly RankedText[] {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    // What the graph leaves open, such as the start of an answer in each token, shows here.
    if (output.data.length !== output.dims[0]) throw severalNumbers(name, output.dims);
    const numbers = toFloats(output);
    return (index) => {
      const { first, encodings } = this.modelRows(index, context)!;
      const own = numbers.subarray(first, first + encodings.length);
      checkScores(own, 'logits', false);
      const isSigmoid = this.param('activation', index, context) === 'sigmoid';
      const scores = isSigmoid ? Array.from(own, logistic) : own;
      const best = topK(scores, this.param<number | undefined>('topK', index, context) ?? scores.length);
      return best.map(({ index: place, score }) => ({ index: place, score }));
    };
  }

  protected override emptyResult: readonly RankedText[] = [];
}

const NO_INSTRUCTION =
  'this model reads the query and the text alone. Only a language model, such as Qwen3-Reranker, takes an instruction.';

function severalNumbers(name: string, dims: TensorInfo['dims']): TabServeError {
  return new TabServeError(
    'model-config',
    `handler.outputName: a reranker needs one number for each pair of texts, but the output "${name}" has the dims [${dims.map((size) => size ?? '?').join(', ')}]. Name another output, or use text_classifier.`,
  );
}
