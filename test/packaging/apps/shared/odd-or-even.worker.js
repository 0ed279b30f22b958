import { expose, ImageClassifier, softmax, tensors } from 'tabserve/worker';

/** How likely each digit is an odd one. */
class OddOrEven extends ImageClassifier {
  postprocess(outputs, { systemProperties }) {
    const logits = outputs[this.model.outputs[0].name];
    return Array.from({ length: systemProperties.batchSize }, (_, index) =>
      softmax(tensors.row(logits, index).data).reduce(
        (sum, probability, digit) => sum + (digit % 2 ? probability : 0),
        0,
      ),
    );
  }
}

expose(OddOrEven);
