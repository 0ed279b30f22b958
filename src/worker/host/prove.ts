/** The proof of a backend for all of an archive's models: its own, and those of its nodes. */
import type { Archive } from '../../contract/archive.js';
import { hasModel } from '../../contract/archive-parts.js';
import { shorten } from '../../contract/describe-value.js';
import { atNode, TabServeError } from '../../contract/errors.js';
import { batchContext } from './context.js';
import type { OpenHandler } from './open-handlers.js';
import {
  compareLabels,
  compareOutputs,
  findNonFinite,
  HALF_REFERENCE_TOLERANCES,
  REFERENCE_TOLERANCES,
} from './compare-outputs.js';
import { HALF_PRECISIONS, type Precision } from '../../contract/precisions.js';
import type { Context, GoldenModel, Handler } from '../../contract/handler.js';
import type { Session, Tensor, TensorInfo, Tensors } from '../../contract/tensors.js';
import type { Comparison, Measured, Sample, Tried } from '../../contract/wire.js';
import { readGolden } from '../models/golden.js';
import { readSafetensors } from '../tensors/safetensors.js';
import { noteProven } from './proven-size.js';
import { doublePictures, generateVariants, nudge } from './variants.js';

/** Returns the handlers whose archive has a model, each archive once. */
export function withModels(handlers: readonly OpenHandler[]): readonly OpenHandler[] {
  const withModel = handlers.filter(({ archive }) => hasModel(archive));
  return withModel.filter(({ archive }, index) => withModel.findIndex((one) => one.archive === archive) === index);
}

/** Runs work on a handler, whose error names the node. */
export async function at<T>({ node }: Pick<OpenHandler, 'node'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw node === '' ? error : atNode(error, node);
  }
}

/** The handlers whose golden examples a backend has reproduced. */
const proven = new WeakSet<OpenHandler>();

/**
 * Runs each model for the first time: see `tryOut`. Golden answers of several models together prove them all; golden
 * examples of single models count only if every model has some. Otherwise the backend is not proven.
 * @param isSpared whether a large example is left out: nothing would follow from its run
 */
export async function proveHandlers(handlers: readonly OpenHandler[], isSpared = false): Promise<Tried> {
  const tried: Tried[] = [];
  const largest = isSpared ? MAX_SPARED_EXAMPLE : Infinity;
  const answers = await tryAnswers(handlers);
  if (answers > 0) handlers.forEach((opened) => proven.add(opened));
  for (const opened of withModels(handlers)) {
    const { handler, environment, archive } = opened;
    const own = await at(opened, () => tryOut(handler, batchContext(environment, {}), archive, largest));
    if (own.golden > 0) proven.add(opened);
    tried.push(own);
  }
  const isProven = answers > 0 || tried.every(({ golden }) => golden > 0);
  return {
    golden: isProven ? tried.reduce((sum, { golden }) => sum + golden, answers) : 0,
    error: Math.max(0, ...tried.map(({ error }) => error)),
    suspicion: tried.find(({ suspicion }) => suspicion !== undefined)?.suspicion,
  };
}

/**
 * Checks the golden answers of a handler whose nodes have the models. Returns how many there are.
 * @throws `backend-wrong`; `model-format` for golden examples of a handler that has no answers to prove
 */
export async function tryAnswers(handlers: readonly OpenHandler[]): Promise<number> {
  const own = handlers.find(({ node, archive }) => node === '' && !hasModel(archive));
  if (!own || own.archive.golden.length === 0) return 0;
  const { handler, archive, environment } = own;
  if (!handler.goldenModel)
    throw new TabServeError(
      'model-format',
      `tabserve.json: golden names ${shorten(archive.golden[0]!)}, but the archive has no model of its own. A golden example holds tensors of one model: put it into the archive of a node.`,
    );
  const { golden } = await reproduce(handler, batchContext(environment, {}), archive);
  return golden;
}

/**
 * Runs each model that no golden example has proven on the inputs for comparing backends. Returns an empty list if one
 * of them has none.
 */
export async function sampleHandlers(handlers: readonly OpenHandler[]): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const opened of withModels(handlers).filter((opened) => !proven.has(opened))) {
    const own = await at(opened, () => sample(opened.handler, batchContext(opened.environment, {})));
    if (own.length === 0) return [];
    samples.push(...own.map((one) => (opened.node === '' ? one : { ...one, node: opened.node })));
  }
  return samples;
}

/** Runs each model on another backend's inputs, and compares the outputs. */
export async function compareHandlers(
  handlers: readonly OpenHandler[],
  samples: readonly Sample[],
): Promise<Comparison> {
  let [inputs, error] = [0, 0];
  let wrong: string | undefined;
  for (const opened of handlers) {
    const { node, archive, environment } = opened;
    const own = samples.filter((one) => (one.node ?? '') === node);
    if (own.length === 0) continue;
    const found = await at(opened, () => compareSamples(batchContext(environment, {}), own, archive.precision));
    inputs += found.inputs;
    error = Math.max(error, found.error);
    if (found.wrong !== undefined) wrong ??= node === '' ? found.wrong : `node "${node}": ${found.wrong}`;
  }
  return { inputs, error, wrong };
}

/**
 * Measures each model for its share of `budget` ms. Returns the sum of the medians; undefined if there is no input to
 * run one of them on.
 */
export async function measureHandlers(handlers: readonly OpenHandler[], budget: number): Promise<Measured | undefined> {
  const own = withModels(handlers);
  let [median, runs] = [0, Infinity];
  for (const opened of own) {
    const { handler, environment } = opened;
    const measured = await at(opened, () => measure(handler, batchContext(environment, {}), budget / own.length));
    if (!measured) return undefined;
    median += measured.median;
    runs = Math.min(runs, measured.runs);
  }
  // Browsers' clocks tell microseconds at best; a sum has more digits.
  return { median: Number(median.toFixed(3)), runs };
}

/**
 * How many numbers the handler's example may have where nothing else could serve, on a backend that computes every model
 * correctly and compiles nothing for a run: those of a photo of 256 × 256. A run on 30 s of sound or a photo of
 * 1024 × 1024 would make the visitor wait for seconds, and the next one would be hardly faster for it.
 */
const MAX_SPARED_EXAMPLE = 3 * 256 * 256;

/** More runs would hardly change the median. */
const MAX_RUNS = 25;

/**
 * Runs a model for the first time on a backend: on every golden example of the archive, then on the handler's own
 * example, unless a golden example has its shapes, and the handler's inference does nothing but run the model: then the
 * backend is warm. A golden example of other dims than the config fixes (`engine.freeDimensions`) is left out, with a
 * warning, and proves nothing.
 * @param largest the numbers that the handler's example may have; a larger one is left out
 * @throws `backend-wrong` with the measured error, if the outputs for a golden example are wrong; `backend-failed` if a
 *   run fails
 */
export async function tryOut(handler: Handler, context: Context, archive: Archive, largest = Infinity): Promise<Tried> {
  const { golden, error, ran } = await reproduce(handler, context, archive);
  const example = await handler.example?.(context);
  const isLeftOut = example !== undefined && largest < Infinity && numbersOf(example) > largest;
  const feeds = isLeftOut ? undefined : example;
  const { onlyRunsModel } = handler as { readonly onlyRunsModel?: boolean };
  const isWarm = feeds !== undefined && onlyRunsModel === true && ran.has(shapesOf(feeds as Tensors));
  const outputs =
    feeds &&
    !isWarm &&
    (handler.exampleIsForModel
      ? await run(await context.open(), feeds)
      : await blamingBackend(async () => (await handler.inference(feeds as never, context)) as Tensors | undefined));
  return { golden, error, suspicion: golden === 0 && outputs ? findNonFinite(outputs) : undefined };
}

/** Runs every golden example of an archive. Returns how many, the largest difference, and the shapes of their inputs. */
async function reproduce(
  handler: Handler,
  context: Context,
  { golden, agreement }: Archive,
): Promise<{ readonly golden: number; readonly error: number; readonly ran: ReadonlySet<string> }> {
  let error = 0;
  const ran = new Set<string>();
  let proven = 0;
  const isFixed = context.modelYamlConfig.engine?.freeDimensions !== undefined;
  for (const path of golden) {
    const bytes = await context.files.bytes(path);
    const model = isOf(bytes, path, handler.goldenModel) ? handler.goldenModel : await context.open();
    const { inputs, outputs } = readGolden(bytes, path, isFixed ? undefined : model.inputs);
    const mismatch = isFixed ? model.inputs.find((input) => !fits(inputs[input.name], input)) : undefined;
    if (mismatch) {
      context.warn(
        `${path} proves nothing: its "${mismatch.name}" does not have the dims that engine.freeDimensions fixes.`,
      );
      continue;
    }
    proven += 1;
    const got = await run(model, inputs);
    const comparison = agreement === 'labels' ? compareLabels(got, outputs) : compareOutputs(got, outputs);
    error = Math.max(error, comparison.error);
    ran.add(shapesOf(inputs));
    if (model !== handler.goldenModel) noteProven(model as Session, inputs);
    if (comparison.wrong !== undefined)
      throw new TabServeError('backend-wrong', `It computes wrongly: on ${path}, ${comparison.wrong}.`);
  }
  return { golden: proven, error, ran };
}

/** Returns whether a golden example is of what the handler computes, and not of a single run of its model. */
function isOf(bytes: Uint8Array, path: string, model: GoldenModel | undefined): model is GoldenModel {
  if (!model) return false;
  const { tensors } = readSafetensors(bytes, path);
  return model.inputs.every(({ name }) => Object.hasOwn(tensors, `inputs/${name}`));
}

/** Returns how many numbers tensors have. What a class of the app gives its own `inference` beside them counts little. */
function numbersOf(feeds: Tensors): number {
  const sizes = Object.values(feeds).map(({ dims = [1] }: Partial<Tensor>) =>
    dims.reduce((size, dim) => size * dim, 1),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns the names, dtypes and dims of a model's inputs, in one text. */
function shapesOf(feeds: Tensors): string {
  const shapes = Object.entries(feeds).map(([name, { dtype, dims }]) => [name, dtype, dims]);
  return JSON.stringify(shapes.toSorted());
}

/**
 * Runs the model on the inputs for comparing backends: the handler's example, on which `tryOut` may have found a number
 * that is not finite; the handler's further examples, plain and doubled; and variants of the example with other
 * numbers. Returns an empty list if the dims of an input are unknown.
 */
export async function sample(handler: Handler, context: Context): Promise<readonly Sample[]> {
  const example = await handler.example?.(context);
  if (!example) return [];
  const session = await context.open();
  const samples: Sample[] = [];
  const pictures = (await handler.examples?.(context)) ?? [];
  for (const feeds of [example, ...pictures, ...doublePictures(pictures), ...generateVariants(example)]) {
    samples.push({ feeds, outputs: await run(session, feeds) });
    noteProven(session, feeds);
  }
  return samples;
}

/**
 * Runs the model in this worker, on the reference backend, on another backend's inputs, and compares the other
 * backend's outputs with its own. Outputs differ between right backends, too, where a model decides between numbers
 * that are all but equal: which boxes it returns, and in what order. So an input whose outputs differ counts only if
 * this backend's own outputs stay when the last bits of the input change; where it has only integers, when it runs
 * again: a model that draws random numbers, as many voices do, then differs from itself.
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
  let [inputs, error] = [0, 0];
  let worst = -1;
  let wrong: string | undefined;
  for (const { feeds, outputs } of samples) {
    const right = await run(session, feeds);
    const comparison = compareOutputs(outputs, right, tolerances);
    if (comparison.wrong !== undefined) {
      const nudged = nudge(feeds);
      const mayDiffer = nudged ? Number.isFinite(comparison.error) : findNonFinite(outputs) === undefined;
      if (mayDiffer && compareOutputs(await run(session, nudged ?? feeds), right, tolerances).wrong !== undefined)
        continue;
    }
    inputs += 1;
    error = Math.max(error, comparison.error);
    if (comparison.wrong !== undefined && comparison.error > worst)
      [worst, wrong] = [comparison.error, comparison.wrong];
  }
  return { inputs, error, wrong };
}

/**
 * Measures as many runs as fit in `budget` ms, at least one. Returns their median in milliseconds; undefined if there
 * is no input to run the model on.
 */
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

function run(model: Pick<Session | GoldenModel, 'run'>, feeds: Tensors): Promise<Tensors> {
  return blamingBackend(() => model.run(feeds));
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
