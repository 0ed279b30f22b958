import { BaseHandler, expose, softmax, tensors, unwrap, type Context, type Row, type Tensors } from 'tabserve/worker';

export interface FileKind {
  readonly label: string;
  readonly score: number;
}

export class FileKindHandler extends BaseHandler<Uint8Array> {
  static override readonly schema = {
    minBytes: { type: 'integer', minimum: 1, default: 1, description: 'The fewest bytes that can be judged.' },
  } as const;

  /** Bytes → how often each of the 256 values occurs, [rows, 256]. */
  override preprocess(data: readonly Row<Uint8Array>[], context: Context): Tensors {
    const rows = data.map((item, index) => {
      const bytes = unwrap(item);
      const frequencies = new Float32Array(256);
      for (const byte of bytes) frequencies[byte]! += 1 / bytes.length;
      const fewest = this.param<number>('minBytes', index, context);
      if (bytes.length < fewest) context.fail(index, new RangeError(`${bytes.length} bytes are too few.`));
      return tensors.from({ data: frequencies, dims: [256] });
    });
    return { [this.inputInfo.name]: tensors.stack(rows) };
  }

  /** Logits, [rows, 3] → the likeliest label of each row. */
  override postprocess(outputs: Tensors, context: Context): FileKind[] {
    const logits = outputs[this.outputInfo.name]!;
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const scores = softmax(tensors.toFloats(tensors.row(logits, index)));
      const best = scores.indexOf(Math.max(...scores));
      return { label: String(this.mapping?.[best]), score: scores[best]! };
    });
  }
}

expose(FileKindHandler);
