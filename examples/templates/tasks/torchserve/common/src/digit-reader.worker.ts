import {
  compose,
  expose,
  grayscale,
  ImageClassifier,
  normalize,
  resize,
  softmax,
  tensors,
  toTensor,
  type Context,
  type Tensors,
} from 'tabserve/worker';

export interface Reading {
  readonly digit: number;
  readonly even: boolean;
  readonly confidence: number;
}

/** `torchserve/handler.py`, stage by stage. */
export class DigitReader extends ImageClassifier {
  override imageProcessing = compose(grayscale(), resize([28, 28]), toTensor(), normalize([0.1307], [0.3081]));

  override async postprocess(outputs: Tensors, context: Context): Promise<Reading[]> {
    const logits = outputs[this.outputInfo.name]!;
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const scores = softmax(tensors.toFloats(tensors.row(logits, index)));
      const confidence = Math.max(...scores);
      const digit = scores.indexOf(confidence);
      return { digit, even: digit % 2 === 0, confidence };
    });
  }
}

expose(DigitReader);
