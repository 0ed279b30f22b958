import { readFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { createFiles } from '../../worker/models/files.js';
import { formatOf, locateFile, readModelUrl } from '../../shared/model-url.js';
import { besideModel, readExternalData } from '../../worker/models/onnx/external-data.js';
import { missingKernels } from './kernel-support.js';
import { startEngine } from '../../server/node/engines.js';
import { readSignature } from '../../worker/engines/onnx/signature.js';
import { readOnnxGraph, type OnnxGraph } from './onnx-graph.js';
import { operatorsBeyond, readOperatorTable, webglDtypes, type TableName } from './operator-tables.js';
import { nextStep, proposalRows, propose, type Declared, type Proposal, type Rows } from './propose.js';
import { formatBytes, formatCount, formatRows, formatTensor } from './text.js';

/** What a model's file is, and the archive that it may become. */
interface Inspected {
  /** To print. */
  readonly text: string;
  readonly proposal: Proposal;
}

/**
 * Describes a model file: its inputs, outputs, operators, operator sets, precision and size, and what each backend
 * lacks for it, and the archive that it may become.
 * @param source path or URL of an `.onnx` file, or of TensorFlow.js's `model.json`, whose weights lie beside it
 * @param writes whether the archive is made next, so that nothing has to say how
 * @throws `model-not-found`, `model-format`, `network`
 */
export async function inspect(source: string, writes = false): Promise<Inspected> {
  const name = fileName(source);
  const format = formatOf(name);
  if (!format) {
    const why = `${source} is no model file: expected a name ending in .onnx or .json.`;
    const advice = /\.pth?$/i.test(name)
      ? 'Export PyTorch weights with torch.onnx.export.'
      : 'An archive or a folder is checked with tabserve archive --check.';
    throw new TabServeError('model-format', `${why} ${advice}`);
  }
  const bytes = await readBytes(source);
  const { rows, declared, isBroken } =
    format === 'onnx' ? await describeOnnx(source, name, bytes) : await describeTensorFlow(source, name, bytes);
  const proposal = await propose(source, declared);
  // Nothing follows for a model that does not open: its row says why.
  const next: Rows = writes || isBroken ? [] : [['next', [nextStep(source, proposal)]]];
  return { text: `${name}\n${formatRows([...rows, ...(await proposalRows(proposal)), ...next])}`, proposal };
}

/** Returns whether a path or URL is of a model file, by its name: one of weights or of a graph, not of an archive. */
export function isModelFile(source: string): boolean {
  // A page of the Hub about a file is the address of its repository.
  if (isUrl(source) && URL.canParse(source) && readModelUrl(source).file === undefined) return isOtherWeights(source);
  return formatOf(fileName(source)) !== undefined || isOtherWeights(source);
}

function isOtherWeights(source: string): boolean {
  return /\.(pth?|bin|h5|keras|pb|gguf|safetensors)$/i.test(source);
}

/**
 * Returns the operators of a model that ONNX Runtime cannot compute on a GPU backend, as the installed onnxruntime-web
 * lists them in its own tables. With WebGPU, the CPU computes them, so the model runs, with copies between the two;
 * WebGL refuses the model.
 */
export function missingOperators(graph: OnnxGraph, backend: TableName): readonly string[] {
  const main = createRequire(import.meta.url).resolve('onnxruntime-web');
  const markdown = readFileSync(join(dirname(main), `../docs/${backend}-operators.md`), 'utf8');
  return operatorsBeyond(readOperatorTable(markdown, backend), graph);
}

/** What a model's file is. */
interface Described {
  readonly rows: Rows;
  readonly declared: Declared;
  /** Whether the model does not open, and so no archive of it does. */
  readonly isBroken?: boolean;
}

async function describeOnnx(source: string, name: string, bytes: Uint8Array): Promise<Described> {
  const graph = readOnnxGraph(bytes);
  const { irVersion, producer, opsets, weights, operators } = graph;
  const opset = Object.entries(opsets).map(([domain, version]) => `${domain} ${version}`);
  const precision = weights.map(
    (one) => `${one.dtype}: ${formatBytes(one.bytes)} in ${formatCount(one.tensors, 'tensor')}`,
  );
  const files: Record<string, Uint8Array> = {};
  const fault = await tryOpening(source, name, bytes, files);
  const webgpu = missingOperators(graph, 'webgpu');
  const webgl = [...missingOperators(graph, 'webgl'), ...webglDtypes(graph)];
  const rows: Rows = [
    ['format', [`ONNX, IR version ${irVersion}${producer && `, made by ${producer}`}`]],
    [
      'size',
      Object.entries(files).map(([file, { length }], index) =>
        index > 0 ? `and ${formatBytes(length)} in ${file}` : formatBytes(length),
      ),
    ],
    ['opset', [opset.join(', ')]],
    ['inputs', graph.inputs.map(formatTensor)],
    ['outputs', graph.outputs.map(formatTensor)],
    ['weights', precision.length > 0 ? precision : ['none']],
    ['operators', wrap(operators.map(({ name: operator, count }) => `${operator} ${count}`))],
    ['onnx/wasm', [fault === undefined ? 'opens (tried under Node)' : `does not open: ${fault}`]],
    ['onnx/webgpu', webgpu.length > 0 ? wrap(webgpu, 'computes on the CPU, with copies: ') : ['has every operator']],
    ['onnx/webgl', webgl.length > 0 ? wrap(webgl, 'lacks ') : ['has every operator; it serves only after a proof']],
  ];
  return { rows, declared: readSignature(bytes), isBroken: fault !== undefined };
}

/**
 * Opens the model in the WASM build that the browser runs, too.
 * @param files gets the model, and the files beside it that hold its large tensors
 * @returns why it does not open; undefined if it does
 */
async function tryOpening(
  source: string,
  name: string,
  bytes: Uint8Array,
  files: Record<string, Uint8Array>,
): Promise<string | undefined> {
  files[name] = bytes;
  try {
    for (const path of readExternalData(bytes)) files[besideModel(name, path)] = await readBytes(sibling(source, path));
    const engine = await startEngine('onnx/wasm');
    const session = await engine.open(createFiles(files), name, {});
    await session[Symbol.asyncDispose]();
    return undefined;
  } catch (error) {
    return messageOf(error as Error);
  }
}

async function describeTensorFlow(source: string, name: string, bytes: Uint8Array): Promise<Described> {
  const { readWeightsManifest } = await import('../../worker/models/shards.js');
  const json = new TextDecoder().decode(bytes);
  const groups = readWeightsManifest(json, name);
  const files: Record<string, Uint8Array> = { [name]: bytes };
  for (const path of groups.flatMap(({ paths }) => paths)) files[path] = await readBytes(sibling(source, path));
  const { format, generatedBy, convertedBy, modelTopology, weightsManifest } = JSON.parse(json) as TensorFlowModel;
  const counts = countOperators(modelTopology.node ?? []);
  const precision = countWeights(weightsManifest ?? []);
  const engine = await startEngine('tfjs/cpu');
  const session = await engine.open(createFiles(files), name, {});
  const missing = await missingKernels(session);
  const rows: Rows = [
    ['format', [`TensorFlow.js ${format ?? (modelTopology.node ? 'graph-model' : 'layers-model')}`]],
    ...(generatedBy || convertedBy
      ? ([['made by', [[generatedBy, convertedBy].filter(Boolean).join(', ')]]] as const)
      : []),
    ['size', [formatBytes(Object.values(files).reduce((sum, { length }) => sum + length, 0))]],
    ['inputs', session.inputs.map(formatTensor)],
    ['outputs', session.outputs.map(formatTensor)],
    ['weights', precision],
    ...(counts.length > 0 ? ([['operators', wrap(counts)]] as const) : []),
    ...(typeof missing === 'string'
      ? ([['backends', [`not tried: ${missing}`]]] as const)
      : Object.entries(missing).map(
          ([backend, kernels]) =>
            [`tfjs/${backend}`, kernels.length > 0 ? wrap(kernels, 'lacks ') : ['has every operator']] as const,
        )),
  ];
  return { rows, declared: session };
}

interface TensorFlowModel {
  readonly format?: string;
  readonly generatedBy?: string;
  readonly convertedBy?: string;
  readonly modelTopology: { readonly node?: readonly { readonly op: string }[] };
  readonly weightsManifest?: readonly { readonly weights: readonly WeightSpec[] }[];
}

interface WeightSpec {
  readonly dtype: string;
  readonly quantization?: { readonly dtype: string };
}

function countOperators(nodes: readonly { readonly op: string }[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { op } of nodes) counts.set(op, (counts.get(op) ?? 0) + 1);
  return [...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([op, count]) => `${op} ${count}`);
}

function countWeights(manifest: readonly { readonly weights: readonly WeightSpec[] }[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { dtype, quantization } of manifest.flatMap(({ weights }) => weights)) {
    const stored = quantization ? `${dtype}, stored as ${quantization.dtype}` : dtype;
    counts.set(stored, (counts.get(stored) ?? 0) + 1);
  }
  return [...counts].map(([dtype, count]) => `${dtype}: ${formatCount(count, 'tensor')}`);
}

const LINE = 90;

/** Joins words to lines. */
function wrap(words: readonly string[], start = ''): readonly string[] {
  const lines = [start];
  words.forEach((word, index) => {
    const text = index < words.length - 1 ? `${word}, ` : word;
    if (lines.at(-1)!.length + text.length > LINE) lines.push('');
    lines[lines.length - 1] += text;
  });
  return lines.map((line) => line.trimEnd());
}

/** Returns whether a source is a URL, or names a repository of the Hub: `hf:ORG/NAME`. */
function isUrl(source: string): boolean {
  return /^(?:https?:\/\/|hf:)/i.test(source);
}

function fileName(source: string): string {
  if (!isUrl(source)) return basename(source);
  if (URL.canParse(source)) return basename(new URL(source).pathname);
  throw new TabServeError('model-not-found', `${source} is no valid URL.`);
}

function sibling(source: string, path: string): string {
  return isUrl(source) ? locateFile(readModelUrl(source), path).href : join(source, '..', path);
}

/** @throws `model-not-found`, `network` */
async function readBytes(source: string): Promise<Uint8Array> {
  if (!isUrl(source)) {
    const file = await stat(source).catch(() => undefined);
    if (!file?.isFile()) throw new TabServeError('model-not-found', `There is no file ${source}.`);
    return await readFile(source);
  }
  try {
    const response = await fetch(source);
    if (response.status === 404) throw new TabServeError('model-not-found', `${source}: the server answered 404.`);
    if (!response.ok) throw new TabServeError('network', `${source}: the server answered ${response.status}.`);
    return new Uint8Array(await response.arrayBuffer());
  } catch (cause) {
    if (cause instanceof TabServeError) throw cause;
    throw new TabServeError('network', `${source} could not be downloaded: ${messageOf(cause as Error)}`, { cause });
  }
}
