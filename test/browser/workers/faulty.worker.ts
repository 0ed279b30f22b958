import { BaseHandler, expose, TabServeError, type Context, type TensorInput, type Tensors } from '../../../src/worker.ts';
import { lose } from '../../../demo/lab/gpu.ts';

/** What goes wrong, in which stage, in how many workers: the page counts, since a worker that dies cannot. */
export interface Fault {
  readonly id: string;
  readonly stage: 'preprocess' | 'inference' | 'postprocess';
  readonly kind: 'close' | 'crash' | 'block' | 'stall' | 'lose' | 'memory' | 'throw';
}

const page = new BroadcastChannel('faults');

/** Asks the page whether this fault is still to happen. */
async function isDue(id: string): Promise<boolean> {
  const ask = crypto.randomUUID();
  const answer = new Promise<boolean>((resolve) => {
    page.addEventListener('message', function listen({ data }: MessageEvent<{ answer?: string; due: boolean }>) {
      if (data.answer !== ask) return;
      page.removeEventListener('message', listen);
      resolve(data.due);
    });
  });
  page.postMessage({ ask, id });
  return await answer;
}

const never = new Promise<never>(() => {});

async function happen(stage: Fault['stage'], context: Context): Promise<void> {
  for (const params of new Set(context.params)) {
    const fault = params['fault'] as Fault | undefined;
    if (fault?.stage !== stage || !(await isDue(fault.id))) continue;
    switch (fault.kind) {
      case 'close':
        self.close();
        return await never;
      case 'crash':
        setTimeout(() => { throw new Error('crashed outside of any call'); }); // prettier-ignore
        return await never;
      case 'block':
        for (;;);
      case 'stall':
        return await never;
      case 'lose':
        return lose();
      case 'memory':
        throw new TabServeError('out-of-memory', 'no memory is left');
      case 'throw':
        throw new RangeError('this request is bad');
    }
  }
}

/** Does in each stage what `params.fault` asks for. */
class Faulty extends BaseHandler<TensorInput, Tensors> {
  override async preprocess(data: readonly TensorInput[], context: Context): Promise<Tensors> {
    await happen('preprocess', context);
    return await super.preprocess(data, context);
  }

  override async inference(inputs: Tensors, context: Context): Promise<Tensors> {
    await happen('inference', context);
    return await super.inference(inputs, context);
  }

  override async postprocess(outputs: Tensors, context: Context): Promise<readonly Tensors[]> {
    await happen('postprocess', context);
    return await super.postprocess(outputs, context);
  }
}

expose(Faulty);
