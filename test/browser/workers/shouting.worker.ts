import { expose, ImageClassifier, type Context, type Tensors } from '../../../src/worker.ts';

export interface Shout {
  readonly top: string;
  readonly stages: readonly string[];
}

/** Overrides one stage, and leaves the rest as it is. */
export class Shouting extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Shout[]> {
    const classified = await super.postprocess(outputs, context);
    return classified.map((classes) => {
      return {
        top: classes[0]!.label.toUpperCase(),
        stages: [context.modelName, context.requestIds.length.toString()],
      };
    });
  }
}

expose(Shouting);
