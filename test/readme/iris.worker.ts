import { BaseHandler, expose, softmax, tensors, unwrap, type Context, type Row, type Tensors } from 'tabserve/worker';

export interface Petal {
  readonly length: number;
  readonly width: number;
}

export interface Species {
  readonly species: string;
  readonly score: number;
}

export class IrisHandler extends BaseHandler<Petal, Species> {
  override preprocess(data: readonly Row<Petal>[]): Tensors {
    const rows = data.map(unwrap).map(({ length, width }) => Float32Array.of(length, width));
    return { [this.inputInfo.name]: tensors.stack(rows.map((row) => tensors.from({ data: row, dims: [2] }))) };
  }

  override postprocess(outputs: Tensors, context: Context): Species[] {
    const logits = outputs[this.outputInfo.name]!;
    return Array.from({ length: context.systemProperties.batchSize }, (_, index) => {
      const scores = softmax(tensors.toFloats(tensors.row(logits, index)));
      const score = Math.max(...scores);
      return { species: String(this.mapping?.[scores.indexOf(score)]), score };
    });
  }
}

expose(IrisHandler);
