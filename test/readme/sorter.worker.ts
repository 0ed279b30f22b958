import {
  BaseHandler,
  expose,
  PredictionError,
  softmax,
  TextClassifier,
  tensors,
  unwrap,
  WorkflowHandler,
} from 'tabserve/worker';
import type { Context, NodeHandler, Row, Tensors } from 'tabserve/worker';

/** A handler of its own: bytes → text, sparse or compressed. */
class FileKind extends BaseHandler<Uint8Array> {
  override preprocess(data: readonly Row<Uint8Array>[]): Tensors {
    const rows = data.map((item) => {
      const bytes = unwrap(item);
      const frequencies = new Float32Array(256);
      for (const byte of bytes) frequencies[byte]! += 1 / bytes.length;
      return tensors.from({ data: frequencies, dims: [256] });
    });
    return { [this.inputInfo.name]: tensors.stack(rows) };
  }

  override postprocess(outputs: Tensors, context: Context): string[] {
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const scores = softmax(tensors.toFloats(tensors.row(outputs[this.outputInfo.name]!, index)));
      return String(this.mapping?.[scores.indexOf(Math.max(...scores))]);
    });
  }
}

export interface Sorted {
  readonly kind: string;
  /** Of a text. */
  readonly language?: string;
}

/** Both together: the second handler gets the rows that the first one takes for texts. */
export class Sorter extends WorkflowHandler<Uint8Array, Sorted> {
  #kind!: NodeHandler<FileKind>;
  #language!: NodeHandler<TextClassifier>;

  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#kind = await context.openHandler('kind', FileKind);
    this.#language = await context.openHandler('language', TextClassifier);
  }

  override async inference(files: readonly Uint8Array[], context: Context): Promise<(Sorted | PredictionError)[]> {
    const kinds = await this.#kind.handle(files, context);
    const isText = files.map((_, index) => kinds[index] === 'text');
    const texts = files.filter((_, index) => isText[index]).map((file) => new TextDecoder().decode(file));
    const languages = [...(await this.#language.handle(texts, context, { params: { topK: 1 } }))];
    return kinds.map((kind, index) => {
      if (kind instanceof PredictionError) return kind; // the row's failure
      if (!isText[index]) return { kind };
      const found = languages.shift()!;
      return found instanceof PredictionError ? found : { kind, language: found[0]!.label };
    });
  }
}

expose(Sorter);
