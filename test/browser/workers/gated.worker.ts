import type { Stage } from '../../../src/contract/stages.ts';
import {
  BaseHandler,
  expose,
  PredictionError,
  type Context,
  type TensorInput,
  type Tensors,
} from '../../../src/worker.ts';

/** What a request asks for by `params`. */
export interface Asked {
  /** A lock of the page's for which the batch waits in this stage. */
  readonly gate?: { readonly name: string; readonly stage: Stage };
  /** Fails this row, or throws for the batch that it is in. */
  readonly bad?: 'row' | 'batch';
  /** Results that are one object, inputs that the handler keeps, an answer that never comes. */
  readonly odd?: 'twice' | 'moved-twice' | 'keep' | 'kept' | 'never';
}

/** What it answers: its rows' outputs, and how they were run. */
export interface GatedAnswer {
  readonly y: readonly number[];
  readonly batchSize: number;
  readonly id: string;
  /** Of this worker's batches, from 0. */
  readonly batch: number;
  readonly worker: string;
}

const worker = crypto.randomUUID();
let batches = 0;
/** Their numbers, in the order in which they began. */
const numbers = new WeakMap<Context, number>();
const kept: unknown[] = [];

async function pass(stage: Stage, { params }: Context): Promise<void> {
  for (const { gate } of params as readonly Asked[])
    if (gate && gate.stage === stage) await navigator.locks.request(gate.name, () => {});
}

/** Tells of each row in which batch it ran; a page can hold a batch in any stage. */
class Gated extends BaseHandler {
  override async preprocess(data: readonly TensorInput[], context: Context): Promise<Tensors> {
    numbers.set(context, batches++);
    const asked = context.params as readonly Asked[];
    if (asked.some(({ odd }) => odd === 'keep')) kept.push(...data);
    if (asked.some(({ odd }) => odd === 'never')) await new Promise(() => {});
    asked.forEach(
      ({ bad }, index) => bad === 'row' && context.fail(index, new PredictionError('invalid-input', 'this row is bad')),
    );
    if (asked.some(({ bad }) => bad === 'batch')) throw new RangeError('this batch is bad');
    await pass('preprocess', context);
    return await super.preprocess(data, context);
  }

  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    await pass('inference', context);
    return await super.inference(inputs, context);
  }

  override async postprocess(outputs: Tensors, context: Context): Promise<readonly unknown[]> {
    await pass('postprocess', context);
    const rows = (await super.postprocess(outputs, context)) as readonly Tensors[];
    const batch = numbers.get(context)!;
    const answered = rows.map(({ y }, index): GatedAnswer => ({
      y: [...(y!.data as Float32Array)],
      batchSize: rows.length,
      id: context.requestIds[index]!,
      batch,
      worker,
    }));
    const { odd } = context.params[0] as Asked;
    if (odd === 'twice') return rows.map(() => answered[0]);
    if (odd === 'moved-twice') return rows.map(() => rows[0]);
    if (odd === 'kept') return rows.map(() => kept);
    return answered;
  }

  override async describeHandle(): Promise<unknown> {
    return { batches };
  }
}

expose(Gated);
