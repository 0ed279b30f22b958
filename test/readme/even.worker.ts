import { expose, ImageClassifier, type Classification, type Context, type Tensors } from 'tabserve/worker';

export class EvenOrOdd extends ImageClassifier<'even' | 'odd'> {
  override async postprocess(outputs: Tensors, context: Context): Promise<('even' | 'odd')[]> {
    const rows = (await super.postprocess(outputs, context)) as unknown as Classification[];
    return rows.map((digits) => (['zero', 'two', 'four', 'six', 'eight'].includes(digits[0]!.label) ? 'even' : 'odd'));
  }
}

expose(EvenOrOdd);
