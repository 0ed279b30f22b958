import { expose, ImageClassifier, type Context, type Tensors } from 'tabserve/worker';

export class EvenOrOdd extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<('even' | 'odd')[]> {
    const rows = await super.postprocess(outputs, context);
    return rows.map(([best]) => (['zero', 'two', 'four', 'six', 'eight'].includes(best?.label ?? '') ? 'even' : 'odd'));
  }
}

expose(EvenOrOdd);
