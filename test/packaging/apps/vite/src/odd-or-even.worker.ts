import { expose, ImageClassifier, softmax, tensors, type Context, type Tensors } from 'tabserve/worker';

/** How likely each digit is an odd one. */
export class OddOrEven extends ImageClassifier {
  override postprocess(outputs: Tensors, { systemProperties }: Context): number[] {
    const logits = outputs[this.model.outputs[0]!.name]!;
    return Array.from({ length: systemProperties.batchSize }, (_, index) =>
      softmax(tensors.row(logits, index).data as Float32Array).reduce(
        (sum, probability, digit) => sum + (digit % 2 ? probability : 0),
        0,
      ),
    );
  }
}

expose(OddOrEven);
