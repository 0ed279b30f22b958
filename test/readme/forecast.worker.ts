import {
  expose,
  FunctionHandler,
  StepLoop,
  tensors,
  unwrap,
  type Context,
  type Row,
  type Session,
} from 'tabserve/worker';

type Series = readonly number[];

/** Continues a series by the model's next value, until it is below zero, or has `steps` values more. */
export class Forecaster extends FunctionHandler<Series, Series> {
  static override readonly schema = {
    steps: { type: 'integer', minimum: 1, default: 10, description: 'The maximum number of values.' },
  } as const;

  readonly batchesAtOnce = 8;
  readonly #loop = new StepLoop((all: readonly Series[]) => this.#next(all));
  #model!: Session;

  override async initialize(context: Context): Promise<void> {
    await super.initialize(context);
    this.#model = await context.open();
  }

  override async inference(data: readonly Row<Series>[], context: Context): Promise<Series[]> {
    return await Promise.all(data.map((row, index) => this.#continue(unwrap(row), index, context)));
  }

  async #continue(series: Series, index: number, context: Context): Promise<Series> {
    const found: number[] = [];
    for await (const longer of this.#loop.run(series, context.signal)) {
      const value = longer.at(-1)!;
      found.push(value);
      await context.send(index, value); // for client.stream
      context.heartbeat();
      if (value < 0 || found.length === this.param<number>('steps', index, context)) break;
    }
    return found;
  }

  /** One run of the model for all series: their last two values, [rows, 2] → the next value of each, [rows, 1]. */
  async #next(all: readonly Series[]): Promise<Series[]> {
    const last = all.map((series) => tensors.from({ data: Float32Array.from(series.slice(-2)), dims: [2] }));
    const { y } = await this.#model.run({ x: tensors.stack(last) });
    return all.map((series, row) => [...series, tensors.toFloats(tensors.row(y!, row))[0]!]);
  }
}

expose(Forecaster);
