import {
  compareLabels,
  compareOutputs,
  findNonFinite,
  HALF_REFERENCE_TOLERANCES,
  REFERENCE_TOLERANCES,
} from '../backends/proof.js';
import type { Archive } from '../contract/archive.js';
import { TabServeError } from '../contract/errors.js';
import { HALF_PRECISIONS, type Precision } from '../contract/precisions.js';
import type { Context, Handler } from '../contract/handler.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../contract/tensors.js';
import type { Comparison, Measured, Sample, Tried } from '../contract/wire.js';
import { readGolden } from '../models/golden.js';
import { onlyRunsModel } from './stages.js';
import { doublePictures, generateVariants } from './variants.js';

/** More runs would hardly change the median. */
const MAX_RUNS = 25;

/**
 * Runs a model for the first time on a backend: on every golden example of the archive, then on the handler's own example, unless a golden example has its shapes, and the
 * handler's inference does nothing but run the model: then the backend is warm. A golden example of other dims than the config fixes (`engine.freeDimensions`) is left out,
 * with a warning, and proves nothing.
 * @throws `backend-wrong` with the measured error, if the outputs for a golden example are wrong; `backend-failed` if a run fails
 */
export async function tryOut(handler: Handler, context: Context, { golden, agreement }: Archive): Promise<Tried> {
  let error = 0;
  const ran = new Set<string>();
  let proven = 0;
  const isFixed = context.modelYamlConfig.engine?.freeDimensions !== undefined;
  for (const path of golden) {
    const session = await context.open();
    const bytes = await context.files.bytes(path);
    const { inputs, outputs } = readGolden(bytes, path, isFixed ? undefined : session.inputs);
    const unfit = isFixed ? session.inputs.find((input) => !fits(inputs[input.name], input)) : undefined;
    if (unfit) {
      context.warn(
        `${path} proves nothing: its "${unfit.name}" does not have the dims that engine.freeDimensions fixes.`,
      );
      continue;
    }
    proven += 1;
    const got = await run(session, inputs);
    const comparison = agreement === 'labels' ? compareLabels(got, outputs) : compareOutputs(got, outputs);
    error = Math.max(error, comparison.error);
    ran.add(shapesOf(inputs));
    if (comparison.wrong !== undefined)
      throw new TabServeError('backend-wrong', `It computes wrongly: on ${path}, ${comparison.wrong}.`);
  }
  const feeds = await handler.example?.(context);
  const isWarm = feeds !== undefined && ran.size > 0 && onlyRunsModel(handler) && ran.has(shapesOf(feeds as Tensors));
  const outputs =
    feeds &&
    !isWarm &&
    (await blamingBackend(async () => (await handler.inference(feeds as never, context)) as Tensors | undefined));
  return {
    golden: proven,
    error,
    suspicion: proven === 0 && outputs ? findNonFinite(outputs) : undefined,
  };
}

/** Returns the names, dtypes and dims of a model's inputs, in one text. */
function shapesOf(feeds: Tensors): string {
  const shapes = Object.entries(feeds).map(([name, { dtype, dims }]) => [name, dtype, dims]);
  return JSON.stringify(shapes.toSorted());
}

/**
 * Runs the model on the inputs for comparing backends: the handler's example, on which `tryOut` may have found a number that is not finite; the
 * handler's further examples, plain and doubled; and variants of the example with other numbers. Returns an empty list if the dims of an input are unknown.
 */
export async function sample(handler: Handler, context: Context): Promise<readonly Sample[]> {
  const example = await handler.example?.(context);
  if (!example) return [];
  const session = await context.open();
  const samples: Sample[] = [];
  const pictures = (await handler.examples?.(context)) ?? [];
  for (const feeds of [example, ...pictures, ...doublePictures(pictures), ...generateVariants(example)])
    samples.push({ feeds, outputs: await run(session, feeds) });
  return samples;
}

/**
 * Runs the model in this worker, on the reference backend, on another backend's inputs, and compares the other backend's outputs with its own.
 * @param precision of the model, where it is known
 */
export async function compareSamples(
  context: Context,
  samples: readonly Sample[],
  precision?: Precision,
): Promise<Comparison> {
  const isHalf = precision !== undefined && HALF_PRECISIONS.includes(precision);
  const tolerances = isHalf ? HALF_REFERENCE_TOLERANCES : REFERENCE_TOLERANCES;
  const session = await context.open();
  let error = 0;
  let worst = -1;
  let wrong: string | undefined;
  for (const { feeds, outputs } of samples) {
    const comparison = compareOutputs(outputs, await run(session, feeds), tolerances);
    error = Math.max(error, comparison.error);
    if (comparison.wrong !== undefined && comparison.error > worst)
      [worst, wrong] = [comparison.error, comparison.wrong];
  }
  return { inputs: samples.length, error, wrong };
}

/** Measures as many runs as fit in `budget` ms, at least one. Returns their median in milliseconds; undefined if there is no input to run the model on. */
export async function measure(handler: Handler, context: Context, budget: number): Promise<Measured | undefined> {
  const feeds = await handler.example?.(context);
  if (!feeds) return undefined;
  const session = await context.open();
  const times: number[] = [];
  const ends = performance.now() + budget;
  while (times.length === 0 || (times.length < MAX_RUNS && performance.now() < ends)) {
    const started = performance.now();
    await run(session, feeds);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1]!, runs: times.length };
}

function fits(tensor: Tensor | undefined, { dims }: TensorInfo): boolean {
  return (
    tensor?.dims.length === dims.length &&
    dims.every((size, axis) => typeof size !== 'number' || size === tensor.dims[axis])
  );
}

function run(session: Session, feeds: Tensors): Promise<Tensors> {
  return blamingBackend(() => session.run(feeds));
}

/** Blames the backend if the engine cannot run the work: these inputs are not rows that an app sent. */
async function blamingBackend<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof TabServeError) || error.code !== 'inference-failed') throw error;
    throw new TabServeError('backend-failed', error.message, {
      cause: error.cause,
      stage: error.stage,
      node: error.node,
    });
  }
}
