import { expose, ImageClassifier, tensors, type Context, type Tensor, type Tensors } from 'tabserve/worker';

/** In a sequence of camera frames, the answer holds still: each frame counts for a fifth. */
export class SteadyClassifier extends ImageClassifier {
  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    const outputs = await super.inference(inputs, context);
    const { name } = this.outputInfo;
    const rows = Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const logits = tensors.row(outputs[name]!, index) as Tensor<'float32'>;
      const before = context.state(index) as Tensor<'float32'> | undefined;
      const data = logits.data.map((value, at) => value + (before ? 0.8 * (before.data[at]! - value) : 0));
      const mean = { ...logits, data };
      context.setState(index, mean);
      return mean;
    });
    return { ...outputs, [name]: tensors.stack(rows) };
  }
}

expose(SteadyClassifier);
