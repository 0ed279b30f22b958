/** Runs of a model on inputs that are much larger than those that its backend was proven on. */
import type { Session, Tensor, Tensors } from '../../contract/tensors.js';
import type { LargerRun } from '../../contract/wire.js';
import { loadScript } from '../../shared/load-script.js';
import { GpuTensor } from '../tensors/gpu-tensor.js';
import { batchContext } from './context.js';
import type { OpenHandler } from './open-handlers.js';
import { withModels } from './prove.js';
import { provenSize, sizeOf } from './proven-size.js';

/** Inputs are much larger if they have more than this many times the numbers of the largest proven ones. */
const MUCH_LARGER = 4;

/**
 * Watches the models whose inputs have free dims, in addition to the batch axis. The first run on much larger inputs
 * than the largest proven ones is copied, for another worker to compare; then its size counts as proven. Models that a
 * handler opens by a path, such as an encoder and its decoder, are not watched.
 */
export class LargerRuns {
  #found: LargerRun[] = [];

  /** @param compared the sizes that were compared at earlier visits, by node */
  async watch(handlers: readonly OpenHandler[], compared: Readonly<Record<string, number>>): Promise<void> {
    for (const { node, handler, environment } of withModels(handlers)) {
      const context = batchContext(environment, {});
      const session = await context.open();
      // The verdict of an earlier visit: it was proven on the handler's example.
      const example = (await handler.example?.(context)) as Tensors | undefined;
      const proven = Math.max(provenSize(session) ?? (example && sizeOf(session, example)) ?? 0, compared[node] ?? 0);
      if (proven > 0) this.#watchModel(node, session, proven);
    }
  }

  /** Returns the runs since the last call that are to be compared; undefined if there are none. */
  take(): readonly LargerRun[] | undefined {
    if (this.#found.length === 0) return undefined;
    const found = this.#found;
    this.#found = [];
    return found;
  }

  #watchModel(node: string, session: Session, proven: number): void {
    let largest = proven;
    const run = session.run.bind(session);
    session.run = async (feeds, options) => {
      const size = sizeOf(session, feeds) ?? 0;
      if (options?.keep || size <= largest * MUCH_LARGER) return await run(feeds, options);
      // An engine may take the memory of its feeds.
      const copies = await copyTensors(feeds);
      const outputs = await run(feeds, options);
      if (size > largest) {
        largest = size;
        this.#found.push({ ...(node !== '' && { node }), feeds: copies, outputs: await copyTensors(outputs), size });
      }
      return outputs;
    };
  }
}

async function copyTensors(tensors: Tensors): Promise<Tensors> {
  const copies = Object.entries(tensors).map(async ([name, tensor]) => [name, await copyTensor(tensor)] as const);
  return Object.fromEntries(await Promise.all(copies));
}

async function copyTensor(tensor: Tensor): Promise<Tensor> {
  if (tensor instanceof GpuTensor) {
    const { readTensor } = await loadScript(() => import('../tensors/read-tensor.js'));
    return await readTensor(tensor);
  }
  const { dtype, dims, data } = tensor;
  return { dtype, dims: [...dims], data: data.slice() } as Tensor;
}
