import { compareOutputs, findNonFinite } from '../backends/proof.js';
import type { Archive } from '../contract/archive.js';
import type { Context, Handler } from '../contract/handler.js';
import type { Tensor, Tensors } from '../contract/tensors.js';
import { TabServeError } from '../contract/errors.js';
import { toFloat16 } from '../tensors/float16.js';
import { generate, readGolden } from '../models/golden.js';
import type { Measured, Sampled, Tried } from '../contract/wire.js';

/** Of the made-up input that backends are compared on. */
const SEED = 1;
/** The median of more says no more. */
const MOST_RUNS = 25;

/**
 * The first runs of a model on a backend: every golden example of the archive, then the handler's own example.
 * @throws `backend-wrong` with the measured error, if a golden example is answered otherwise; whatever a run throws
 */
export async function tryOut(handler: Handler, context: Context, { golden }: Archive): Promise<Tried> {
  let error = 0;
  for (const path of golden) {
    const { inputs, outputs } = readGolden(await context.files.bytes(path), path);
    const session = await context.open();
    const comparison = compareOutputs(await session.run(inputs), outputs);
    error = Math.max(error, comparison.error);
    if (comparison.wrong !== undefined)
      throw new TabServeError('backend-wrong', `It computes wrongly: on ${path}, ${comparison.wrong}.`);
  }
  const feeds = await handler.example?.(context);
  const outputs = feeds && ((await handler.inference(feeds as never, context)) as Tensors | undefined);
  return {
    golden: golden.length,
    error,
    suspicion: golden.length === 0 && outputs ? findNonFinite(outputs) : undefined,
  };
}

/** A run on each of `feeds`; without them, on the handler's example and on noise. None where the dims of an input cannot be known. */
export async function sample(
  handler: Handler,
  context: Context,
  feeds?: readonly Tensors[],
): Promise<readonly Sampled[]> {
  const session = await context.open();
  const sampled: Sampled[] = [];
  for (const one of feeds ?? madeUp(await handler.example?.(context)))
    sampled.push({ feeds: one, outputs: await session.run(one) });
  return sampled;
}

/** The example, in which a number that is not finite may have been found; and noise in −1..1 in the place of its floats, since zeros hide most errors. */
function madeUp(example: Tensors | undefined): Tensors[] {
  if (!example) return [];
  const noise = (tensor: Tensor): Tensor => {
    if (tensor.dtype === 'float32') return { ...tensor, data: generate(SEED, tensor.dims) };
    if (tensor.dtype === 'float16') return { ...tensor, data: toFloat16(generate(SEED, tensor.dims)) };
    return tensor;
  };
  const noisy = Object.fromEntries(Object.entries(example).map(([name, tensor]) => [name, noise(tensor)]));
  return Object.keys(example).some((name) => noisy[name] !== example[name]) ? [example, noisy] : [example];
}

/** Milliseconds of a run, the median of as many as fit in `budget` ms, at least one. Undefined where there is nothing to run it on. */
export async function measure(handler: Handler, context: Context, budget: number): Promise<Measured | undefined> {
  const feeds = await handler.example?.(context);
  if (!feeds) return undefined;
  const session = await context.open();
  const times: number[] = [];
  const ends = performance.now() + budget;
  while (times.length === 0 || (times.length < MOST_RUNS && performance.now() < ends)) {
    const started = performance.now();
    await session.run(feeds);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1]!, runs: times.length };
}
