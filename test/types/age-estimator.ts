import type { Context } from '../../src/contract/handler.ts';
import type { HuggingFaceTask } from '../../src/contract/hugging-face-task.ts';
import type { Tensors } from '../../src/contract/tensors.ts';
import type { ConfigSchema } from '../../src/shared/schema.ts';
import { VisionHandler } from '../../src/worker/handlers/vision-handler.ts';
import type { VisionParams } from '../../src/worker/handlers/vision-params.ts';
import { checkRows, numbersOf } from '../../src/worker/outputs/rows.ts';
import { toFloats } from '../../src/worker/tensors/tensors.ts';
import { compose, resize, toTensor } from '../../src/worker/transforms/index.ts';

/** The `params` of an age estimator. */
export interface AgeEstimatorParams extends VisionParams {
  /** What the age is counted in. */
  readonly unit?: 'years' | 'months';
}

/**
 * Estimates the age of the person in each image. The model's output `[rows, 1]` holds years.
 * @answer the age, a number
 */
export class AgeEstimator extends VisionHandler<number> {
  declare readonly paramsType?: AgeEstimatorParams;

  static override readonly huggingFace: HuggingFaceTask = { architectures: ['ForAgeEstimation'], processor: 'image' };

  static override readonly schema: ConfigSchema = {
    unit: { enum: ['years', 'months'], description: 'What the age is counted in.', default: 'years' },
  };

  override imageProcessing = compose(resize([224, 224]), toTensor());

  /** What is thrown here fails the batch; what is thrown in the function fails its row. */
  protected override rowResults(outputs: Tensors, context: Context): (index: number) => number {
    const { name } = this.outputInfo;
    const output = numbersOf(outputs, name);
    checkRows(name, output, context.systemProperties.batchSize);
    const years = toFloats(output);
    return (index) => years[index]! * (this.param('unit', index, context) === 'months' ? 12 : 1);
  }
}
