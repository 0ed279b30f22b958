import { expose, ImageClassifier, type Context, type Tensors } from 'tabserve/worker';

const EVEN = new Set<string | undefined>(['zero', 'two', 'four', 'six', 'eight']);

/** Answers whether the digit is even: a stage of the built-in handler is overridden. */
export class EvenOrOdd extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<('even' | 'odd')[]> {
    const rows = await super.postprocess(outputs, context);
    return rows.map(([best]) => (EVEN.has(best?.label) ? 'even' : 'odd'));
  }
}

expose(EvenOrOdd);
