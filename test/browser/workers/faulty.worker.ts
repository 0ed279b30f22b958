import {
  BaseHandler,
  expose,
  TabServeError,
  unwrap,
  type Context,
  type ImageInput,
  type TensorInput,
  type Tensors,
} from '../../../src/worker.ts';
import { lose } from '../../../demo/lab/gpu.ts';

/** What goes wrong, in which stage, in how many workers. */
export interface Fault {
  readonly id: string;
  readonly stage: 'preprocess' | 'inference' | 'postprocess';
  readonly kind: 'close' | 'crash' | 'block' | 'stall' | 'lose' | 'memory' | 'throw';
  readonly times: number;
}

/** How often each fault has happened, in whichever worker. Counted where it outlives them all and no message can be lost. */
const counts = new Promise<IDBDatabase>((resolve, reject) => {
  const opening = indexedDB.open('faults', 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore('counts');
  opening.onsuccess = () => resolve(opening.result);
  opening.onerror = () => reject(opening.error);
});

/** Whether this fault is still to happen; counts it before it does. */
async function isDue({ id, times }: Fault): Promise<boolean> {
  const transaction = (await counts).transaction('counts', 'readwrite');
  const store = transaction.objectStore('counts');
  const count: IDBRequest<number | undefined> = store.get(id);
  count.onsuccess = () => store.put((count.result ?? 0) + 1, id);
  await new Promise<unknown>((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error);
  });
  return (count.result ?? 0) < times;
}

const never = new Promise<never>(() => {});

async function happen(stage: Fault['stage'], context: Context): Promise<void> {
  for (const params of new Set(context.params)) {
    const fault = params['fault'] as Fault | undefined;
    if (fault?.stage !== stage || !(await isDue(fault))) continue;
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

/** Does in each stage what `params.fault` asks for. An image becomes a tensor of its first pixel, and its width. */
class Faulty extends BaseHandler<TensorInput | ImageInput> {
  override async preprocess(data: readonly (TensorInput | ImageInput)[], context: Context): Promise<Tensors> {
    await happen('preprocess', context);
    return await super.preprocess(await Promise.all(data.map((input) => firstPixel(input, context))), context);
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

async function firstPixel(row: TensorInput | ImageInput, context: Context): Promise<TensorInput> {
  const input = unwrap<TensorInput | ImageInput>(row);
  if (!(input instanceof Blob || input instanceof ImageBitmap || input instanceof VideoFrame))
    return row as TensorInput;
  const image = await context.decodeImage(input);
  const { data, format } = await image.read({ x: 0, y: 0, width: 1, height: 1 });
  const [red, green, blue] = format.startsWith('BGR') ? [data[2]!, data[1]!, data[0]!] : [...data];
  const pixel = { data: Float32Array.of(red!, green!, blue!, image.width), dims: [4] };
  image.close();
  return pixel;
}

expose(Faulty);
