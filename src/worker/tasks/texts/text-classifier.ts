import { loadScript } from '../../../shared/load-script.js';
import type { Context, Params } from '../../../contract/handler.js';
import type { HuggingFaceTask } from '../../../contract/hugging-face-task.js';
import type { Signature } from '../../../contract/task.js';
import type { Tensors } from '../../../contract/tensors.js';
import { activationFault } from '../../outputs/activation.js';
import {
  checkClasses,
  classify,
  classScores,
  maxResultClasses,
  rowScores,
  type Classification,
  type ClassificationForms,
  type ClassifyOptions,
  type ClassOutput,
  type ClassScoreKind,
} from '../../outputs/classification.js';
import type { TextExplanation } from '../../outputs/explanation.js';
import { numbersOf } from '../../outputs/rows.js';
import { readText } from '../../text/read-text.js';
import type { ConfigSchema } from '../../../shared/schema.js';
import { EXPLAINERS } from '../../handlers/registry.js';
import type { TextExplainParams } from '../../handlers/explain.js';
import type { Row as RowOf } from '../../handlers/row.js';
import {
  activationOf,
  severalLabels,
  thresholdOf,
  type SeveralLabelsConfig,
  type SeveralLabelsParams,
} from '../../handlers/several-labels.js';
import { TextHandler, type TextInput, type TextParams } from '../../handlers/text-handler.js';
import { TEXT_CLASSIFIER_SCHEMA, TEXT_EXPLAIN_PARAMS_SCHEMA } from './schemas.js';
import { declareStandard } from '../../handlers/handler-contract.js';
import { floatOutput } from '../../outputs/floats.js';
import type { TextHandlerConfig } from '../../handlers/text-handler.js';

/** The `params` of a text classifier. */
export interface TextClassifierParams extends TextParams, SeveralLabelsParams {
  /**
   * The largest number of classes in a result. Default: all classes.
   * @integer
   * @minimum 1
   */
  readonly topK?: number;
  /**
   * What the model's output holds: logits, which softmax (with multiLabel: sigmoid) converts to probabilities;
   * probabilities; or values, which are the scores, as of a regression.
   * @default 'logits'
   */
  readonly output?: ClassScoreKind;
  /**
   * The form of the result. typed: [{ label, score }, …], best first; torchserve: { [label]: score }.
   * @default 'typed'
   */
  readonly result?: keyof ClassificationForms;
}

/**
 * Implements TorchServe's text classifier: returns the classes of each text, best first. A result has all classes
 * unless `topK` limits their number. Softmax converts logits to probabilities. With `multiLabel`, sigmoid converts
 * them, and a result has only the labels whose probability reaches `threshold`, so it may be empty.
 * @sample { "input": "The team has won in the last minute, and its fans sang in the streets all night." }
 * @answer `[{ label, score }, …]`, best first
 */
export class TextClassifier extends TextHandler<Classification, TextExplanation> {
  declare readonly paramsType?: TextClassifierParams;
  declare readonly configType?: TextHandlerConfig & SeveralLabelsConfig;
  declare readonly resultForms?: ClassificationForms;
  declare readonly explainParamsType?: TextExplainParams;

  static override readonly explainSchema: ConfigSchema = TEXT_EXPLAIN_PARAMS_SCHEMA;

  static override readonly huggingFace: HuggingFaceTask = {
    architectures: ['ForSequenceClassification'],
    processor: 'tokenizer',
    hasClasses: true,
    /** Applies the rules of transformers' text classification pipeline. */
    handlerConfig(config, own) {
      if (config['problem_type'] === 'regression') return own['output'] === undefined ? { output: 'values' } : {};
      return severalLabels(config);
    },
  };

  static override readonly nearest: readonly Signature[] = [
    { order: 160, reads: 'texts', main: { rank: 2, isLogits: true } },
  ];

  static override readonly schema: ConfigSchema = TEXT_CLASSIFIER_SCHEMA;

  /** The default number of classes in a result; the config and a request's `params` override it. */
  topk = Infinity;

  protected override get defaults(): Params {
    return { ...super.defaults, topK: this.topk };
  }

  /** Sets the default number of classes in a result. @throws `model-config` unless `k` is a positive integer */
  setMaxResultClasses(k: number): void {
    this.topk = maxResultClasses(k);
  }

  /**
   * Opens the model and checks its output.
   * @throws `model-config` if the output does not hold one number for each class, if the labels do not fit the classes,
   *   or if the config has a `threshold` without `multiLabel`
   */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.outputInfo = floatOutput(this.outputInfo, this.model.outputs, this.config);
    checkClasses(this.outputInfo, this.mapping);
    const kind = this.param<ClassScoreKind>('output', 0, context);
    const fault = kind === 'values' ? undefined : activationFault(this.outputInfo, kind);
    if (fault !== undefined) context.warn(fault);
    thresholdOf(this.config, this.param('threshold', 0, context), 'model-config');
  }

  /** Converts the model's output, `[rows, classes]`, to the classes of each row, best first. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => Classification {
    const scores = rowScores(this.#classes(outputs), context.systemProperties.batchSize);
    const options = (index: number): ClassifyOptions => ({
      output: this.param('output', index, context),
      activation: activationOf(this.config),
      topK: this.param('topK', index, context),
      result: this.param('result', index, context),
      recordOrder: 'class',
      threshold: thresholdOf(this.config, this.param('threshold', index, context), 'invalid-input'),
    });
    // With the param `result`, it is another form: see `resultForms`.
    return (index) => classify(scores[index]!, this.mapping, options(index)) as Classification;
  }

  static {
    declareStandard(this.prototype.rowResults);
  }

  protected override emptyResult: Classification = [];

  /** Explains the score of a class: by how much it falls without each word. */
  protected override async explainRows(
    _inputs: Tensors,
    data: readonly RowOf<TextInput>[],
    context: Context,
  ): Promise<readonly TextExplanation[]> {
    const { explainTexts, findTarget, wordWeights } = await loadScript(EXPLAINERS.texts);
    const options = { output: this.param<ClassScoreKind>('output', 0, context), activation: activationOf(this.config) };
    const scoresOf = (outputs: Tensors, rows: number): readonly ArrayLike<number>[] =>
      classScores(this.#classes(outputs), rows, options);
    const explanations = await explainTexts(
      {
        async read(input: TextInput) {
          const { text, textPair } = await readText(input);
          return { text, ...(textPair !== undefined && { textPair }) };
        },
        choose: (outputs, _words, { target }) => {
          const about = findTarget(target as TextExplainParams['target'], scoresOf(outputs, 1)[0]!, this.mapping);
          return {
            about,
            scores: (outputs, variants) => scoresOf(outputs, variants.length).map((scores) => [scores[about.index]!]),
          };
        },
        preprocess: (texts, rows) => this.preprocess(texts, rows),
        inference: (inputs, rows) => this.inference(inputs, rows),
      },
      data,
      context,
    );
    // A row that has failed gets its error in `handle`.
    return explanations.map((one) => one && wordWeights(one)) as TextExplanation[];
  }

  #classes(outputs: Tensors): ClassOutput {
    const info = this.outputInfo;
    return { info, output: numbersOf(outputs, info.name), labels: this.mapping };
  }
}
