import { expose, ImageClassifier, type Classification, type Context, type Tensors } from 'tabserve/worker';

class Counted extends ImageClassifier {
  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Classification[]> {
    const rows = await super.postprocess(outputs, context);
    for (const row of rows) context.metrics.addCounter('Answers', 1, { labels: { digit: row[0]!.label } });
    return rows;
  }
}

expose(Counted);
