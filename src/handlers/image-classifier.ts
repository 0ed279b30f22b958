import type { Context } from '../contract/handler.js';
import type { Tensors } from '../contract/tensors.js';
import { checkClasses, classify, maxResultClasses, type Classification } from '../outputs/classification.js';
import { softmax } from '../outputs/softmax.js';
import { centerCrop, compose, normalize, resize, toTensor } from '../transforms/index.js';
import type { ConfigSchema } from '../shared/schema.js';
import { VisionHandler } from './vision-handler.js';

/**
 * TorchServe's image classifier: the likeliest classes of each image.
 * The transforms are ImageNet's; logits become probabilities by softmax unless `handler.output` says that they are some already.
 */
export class ImageClassifier<Result = Classification> extends VisionHandler<Result> {
  static override readonly schema: ConfigSchema = {
    output: {
      enum: ['logits', 'probabilities'],
      description:
        'What the model answers with: logits, which softmax turns into probabilities, or probabilities. Default logits.',
    },
    topK: {
      type: 'integer',
      minimum: 1,
      description: 'How many classes a result holds, the likeliest; all where there are fewer. Default 5.',
    },
    result: {
      enum: ['typed', 'torchserve'],
      description: 'typed: [{ label, score }, …], best first (the default); torchserve: { [label]: score }.',
    },
  };

  override imageProcessing = compose(
    resize(256),
    centerCrop(224),
    toTensor(),
    normalize([0.485, 0.456, 0.406], [0.229, 0.224, 0.225]),
  );

  /** How many classes a result holds, unless the config or a request says otherwise. */
  topk = 5;

  /** @throws `model-config` unless `k` is a positive integer */
  setMaxResultClasses(k: number): void {
    this.topk = maxResultClasses(k);
  }

  /** @throws `model-config` if the model's output is not of classes, or of others than there are labels */
  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    checkClasses(this.outputInfo, this.mapping);
  }

  /** The model's output, `[rows, classes]`, → each row's likeliest classes. `topK` is clamped to the number of classes. */
  override postprocess(outputs: Tensors, context: Context): readonly Result[] | Promise<readonly Result[]> {
    return classify(outputs[this.outputInfo.name]!, context, (index) => ({
      output: this.knob('output', 'logits', index, context),
      activation: softmax,
      labels: this.mapping,
      topK: this.knob('topK', this.topk, index, context),
      result: this.knob('result', 'typed', index, context),
    })) as Result[];
  }
}
