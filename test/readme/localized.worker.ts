import { expose, ImageClassifier, type Classification, type Context, type Tensors } from 'tabserve/worker';

export class Localized extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Classification[]> {
    const results = await super.postprocess(outputs, context);
    for (const index of results.keys()) {
      const request = context.request(index); // undefined for a row of the page itself
      const language = request?.headers.get('accept-language') ?? 'en';
      context.respond(index, { headers: { 'Content-Language': language } });
    }
    return results;
  }
}

expose(Localized);
