import { expose, ImageClassifier, type Classification, type Context, type Tensors } from 'tabserve/worker';

/** Sends the best label at once, and then all that are sure enough. */
export class EagerClassifier extends ImageClassifier {
  declare readonly partType?: { readonly best: string };

  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Classification[]> {
    const results = await super.postprocess(outputs, context);
    for (const [index, [best]] of results.entries()) if (best) await context.send(index, { best: best.label });
    return results;
  }
}

expose(EagerClassifier);
