import { compareOutputs, findNonFinite } from '../backends/proof.js';
import type { Archive, Context, Handler, Tensor, Tensors } from '../contract.js';
import { TabServeError } from '../errors.js';
import { toFloat16 } from '../float16.js';
import { generate, readGolden } from '../models/golden.js';
import type { Measured, Sampled, Tried } from '../wire.js';

/** Of the made-up input that backends are compared on. */
const SEED = 1;
/** A median of fewer runs says little, of more no more. */
const RUNS = { least: 3, most: 25 };

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
    if (comparison.wrong !== undefined) throw new TabServeError('backend-wrong', `It computes wrongly: on ${path}, ${comparison.wrong}.`);
  }
  const feeds = await handler.example?.(context);
  const outputs = feeds && ((await handler.inference(feeds as never, context)) as Tensors | undefined);
  return { golden: golden.length, error, suspicion: golden.length === 0 && outputs ? findNonFinite(outputs) : undefined };
}

/** One run on `feeds`, or on made-up ones. Undefined where the dims of an input cannot be known. */
export async function sample(handler: Handler, context: Context, feeds?: Tensors): Promise<Sampled | undefined> {
  const example = feeds ?? (await handler.example?.(context));
  if (!example) return undefined;
  const inputs = feeds ?? madeUp(example);
  return { feeds: inputs, outputs: await (await context.open()).run(inputs) };
}

/** Floats become noise in −1..1: zeros would hide most errors. What else there is (token ids, sizes) is as the handler has it. */
function madeUp(example: Tensors): Tensors {
  const noise = (tensor: Tensor): Tensor => {
    if (tensor.dtype === 'float32') return { ...tensor, data: generate(SEED, tensor.dims) };
    if (tensor.dtype === 'float16') return { ...tensor, data: toFloat16(generate(SEED, tensor.dims)) };
    return tensor;
  };
  return Object.fromEntries(Object.entries(example).map(([name, tensor]) => [name, noise(tensor)]));
}

/** Milliseconds of a run, the median of as many as fit in `budget` ms. Undefined where there is nothing to run it on. */
export async function measure(handler: Handler, context: Context, budget: number): Promise<Measured | undefined> {
  const feeds = await handler.example?.(context);
  if (!feeds) return undefined;
  const session = await context.open();
  const times: number[] = [];
  const ends = performance.now() + budget;
  while (times.length < RUNS.least || (times.length < RUNS.most && performance.now() < ends)) {
    const started = performance.now();
    await session.run(feeds);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1]!, runs: times.length };
}
