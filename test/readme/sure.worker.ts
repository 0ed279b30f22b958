import {
  expose,
  ImageClassifier,
  type Context,
  type ImageClassifierParams,
  type LabelScore,
  type Tensors,
} from 'tabserve/worker';

/** Answers the best class if it is sure enough, and otherwise null. */
export class SureClassifier extends ImageClassifier {
  declare readonly paramsType?: Omit<ImageClassifierParams, 'result'> & { readonly sureFrom?: number };

  static override readonly schema = {
    sureFrom: { type: 'number', minimum: 0, maximum: 1, default: 0.5, description: 'The lowest score of an answer.' },
  } as const;

  override async postprocess(outputs: Tensors, context: Context): Promise<(LabelScore | null)[]> {
    const rows = await super.postprocess(outputs, context);
    return rows.map(([best], index) =>
      best && best.score >= this.param<number>('sureFrom', index, context) ? best : null,
    );
  }
}

expose(SureClassifier);
