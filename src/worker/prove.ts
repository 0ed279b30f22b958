/** The proof of a backend for all parts of an archive: its own model, and those of its nodes. */
import { hasModel } from '../contract/archive.js';
import { atNode } from '../contract/errors.js';
import type { Comparison, Measured, Sample, Tried } from '../contract/wire.js';
import { batchContext } from './context.js';
import type { OpenPart } from './parts.js';
import { compareSamples, measure, sample, tryOut } from './warm-up.js';

/** Returns the parts that have a model, each archive once. */
export function modelParts(parts: readonly OpenPart[]): readonly OpenPart[] {
  const withModel = parts.filter(({ archive }) => hasModel(archive));
  return withModel.filter(({ archive }, index) => withModel.findIndex((one) => one.archive === archive) === index);
}

/** Runs work on a part, whose error names the node. */
export async function at<T>({ node }: Pick<OpenPart, 'node'>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw node === '' ? error : atNode(error, node);
  }
}

/** The parts whose golden examples a backend has reproduced. */
const proven = new WeakSet<OpenPart>();

/** Runs each model for the first time: see `tryOut`. The golden examples count only if every model has some: otherwise the backend is not proven. */
export async function tryParts(parts: readonly OpenPart[]): Promise<Tried> {
  const tried: Tried[] = [];
  for (const part of modelParts(parts)) {
    const { handler, environment, archive } = part;
    const own = await at(part, () => tryOut(handler, batchContext(environment, {}), archive));
    if (own.golden > 0) proven.add(part);
    tried.push(own);
  }
  const isProven = tried.every(({ golden }) => golden > 0);
  return {
    golden: isProven ? tried.reduce((sum, { golden }) => sum + golden, 0) : 0,
    error: Math.max(0, ...tried.map(({ error }) => error)),
    suspicion: tried.find(({ suspicion }) => suspicion !== undefined)?.suspicion,
  };
}

/** Runs each model that no golden example has proven on the inputs for comparing backends. Returns an empty list if one of them has none. */
export async function sampleParts(parts: readonly OpenPart[]): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const part of modelParts(parts).filter((part) => !proven.has(part))) {
    const own = await at(part, () => sample(part.handler, batchContext(part.environment, {})));
    if (own.length === 0) return [];
    samples.push(...own.map((one) => (part.node === '' ? one : { ...one, node: part.node })));
  }
  return samples;
}

/** Runs each model on another backend's inputs, and compares the outputs. */
export async function compareParts(parts: readonly OpenPart[], samples: readonly Sample[]): Promise<Comparison> {
  let error = 0;
  let wrong: string | undefined;
  for (const part of parts) {
    const { node, archive, environment } = part;
    const own = samples.filter((one) => (one.node ?? '') === node);
    if (own.length === 0) continue;
    const found = await at(part, () => compareSamples(batchContext(environment, {}), own, archive.precision));
    error = Math.max(error, found.error);
    if (found.wrong !== undefined) wrong ??= node === '' ? found.wrong : `node "${node}": ${found.wrong}`;
  }
  return { inputs: samples.length, error, wrong };
}

/** Measures each model for its share of `budget` ms. Returns the sum of the medians; undefined if there is no input to run one of them on. */
export async function measureParts(parts: readonly OpenPart[], budget: number): Promise<Measured | undefined> {
  const own = modelParts(parts);
  let [median, runs] = [0, Infinity];
  for (const part of own) {
    const { handler, environment } = part;
    const measured = await at(part, () => measure(handler, batchContext(environment, {}), budget / own.length));
    if (!measured) return undefined;
    median += measured.median;
    runs = Math.min(runs, measured.runs);
  }
  return { median, runs };
}
