/** Finds the handler for a model whose task is not known, by its outputs. */
import type { Archive } from '../../contract/archive.js';
import { asTabServeError } from '../../contract/errors.js';
import type { OutputInfo, Session, TensorInfo } from '../../contract/tensors.js';
import { readSignature } from '../engines/onnx/signature.js';
import type { ModelJson } from '../engines/tfjs/artifacts.js';
import { readSignature as readTfjsSignature } from '../engines/tfjs/signature.js';
import { formatOf, locateFile, readModelUrl } from '../../shared/model-url.js';
import { fetchDeclared, type RequestUrl } from '../models/onnx/declared.js';
import { readGraph } from '../models/onnx/graph.js';
import { discard } from '../../shared/request-policy.js';
import type { Signature } from '../../contract/task.js';
import { nearestHandlerName, UnknownHandler } from '../handlers/registry.js';
import { TASKS } from '../tasks/index.js';
import { withOwnHandler } from './file-handler.js';
import { withParts } from '../models/hugging-face/parts.js';
import { uncomparedClass } from '../models/hugging-face/uncompared.js';

/** How long a server may take. */
const MAX_WAIT_MS = 5000;

/**
 * Returns the archive of a model for which no handler was found, with the one that its file names. Of a model on a
 * server, only the end of its file is requested, which says what it is.
 * @param read reads the model's file from a server that sends no part of one
 * @throws `unknown-handler`, with the built-in one whose outputs are like the model's, or that opens its files
 */
export async function findHandler(
  error: unknown,
  archive: Archive,
  request: RequestUrl,
  read: () => Promise<Blob | undefined> = async () => undefined,
): Promise<Archive> {
  const own = asTabServeError(error);
  if (!(own instanceof UnknownHandler)) throw own;
  // A misspelt name says more than the model's outputs, and the error names what was probably meant.
  if (nearestHandlerName(own.handler) !== undefined) throw own;
  const uncompared = uncomparedClass(archive);
  if (uncompared) throw uncompared;
  let signature: Signatures | undefined;
  try {
    signature = (await tfjsSignature(archive, request)) ?? (await onnxSignature(archive, request, read));
  } catch {
    // The model cannot be read, but the unknown handler is the more important error.
    throw own;
  }
  const found = signature && own.handler === undefined ? await withOwnHandler(archive, signature) : undefined;
  if (found) return found;
  throw signature
    ? nearestError(own, signature)
    : await withParts(own, { has: (path) => hasFile(archive, path, request) });
}

/** What a model's file declares. */
type Signatures = Pick<Session, 'inputs' | 'outputs' | 'metadata'>;

async function onnxSignature(
  archive: Archive,
  request: RequestUrl,
  read: () => Promise<Blob | undefined>,
): Promise<Signatures | undefined> {
  const model = (await readModel(archive, request)) ?? (await graphOf(await read()));
  return model && readSignature(model);
}

/** Reads what the `model.json` of an archive declares that has no other model; undefined if it declares nothing. */
async function tfjsSignature({ url, local, models }: Archive, request: RequestUrl): Promise<Signatures | undefined> {
  const { onnx, tfjs } = models;
  if (onnx !== undefined || tfjs === undefined || local instanceof Blob) return undefined;
  const file = local
    ? local[tfjs]
    : await request(locateFile(readModelUrl(url), tfjs), { signal: AbortSignal.timeout(MAX_WAIT_MS) });
  if (!file || !('size' in file || file.ok)) return undefined;
  const model = JSON.parse(await file.text()) as ModelJson;
  return model.modelTopology.node ? readTfjsSignature(model) : undefined;
}

function nearestError(own: UnknownHandler, { inputs, outputs }: Signatures): UnknownHandler {
  const { handler, seen } = nearestHandler(inputs, outputs);
  return new UnknownHandler(
    own.handler,
    `By its inputs and outputs (${seen.map(describe).join(', ')}), the model is nearest to ${handler}: set the option handler to '${handler}', or connect() to a handler of your own.`,
    own.task,
  );
}

async function graphOf(file: Blob | undefined): Promise<Uint8Array | undefined> {
  return file && ((await readGraph(file)) ?? new Uint8Array(await file.arrayBuffer()));
}

/** Returns the part of a model's file that `readSignature` needs; undefined if the file is not available. */
async function readModel(
  { url, local, alternatives, models, listing }: Archive,
  request: RequestUrl,
): Promise<Uint8Array | undefined> {
  const named = alternatives?.map(({ path }) => path) ?? [models.onnx].filter((path) => path !== undefined);
  const paths = listing ? named.filter((path) => listing.files.some((file) => file.path === path)) : named;
  if (local instanceof Blob || paths.length === 0) return undefined;
  if (!local && !URL.canParse(url)) return undefined;
  if (!local) {
    const [location, signal] = [readModelUrl(url), AbortSignal.timeout(MAX_WAIT_MS)];
    // Only a request shows which of the precisions exist.
    for (const path of paths.filter((one) => formatOf(one) === 'onnx')) {
      const declared = await fetchDeclared(locateFile(location, path), request, signal);
      if (declared) return declared;
    }
    return undefined;
  }
  return await graphOf(local[paths[0]!]);
}

/** Returns whether a repository has a file. */
async function hasFile({ url, local, listing }: Archive, path: string, request: RequestUrl): Promise<boolean> {
  if (local) return !(local instanceof Blob) && Object.hasOwn(local, path);
  if (listing) return listing.files.some((file) => file.path === path);
  const file = locateFile(readModelUrl(url), path);
  const response = await request(file, { headers: { range: 'bytes=0-0' }, signal: AbortSignal.timeout(MAX_WAIT_MS) });
  discard(response);
  return response.ok && !/^text\/html\b/i.test(response.headers.get('content-type') ?? '');
}

interface Nearest {
  readonly handler: string;
  /** The outputs that show it. */
  readonly seen: readonly OutputInfo[];
}

/** Returns the handler that reads a model's outputs, by the signatures of the tasks; `base_handler` reads any. */
export function nearestHandler(inputs: readonly TensorInfo[], outputs: readonly OutputInfo[]): Nearest {
  return nearestHandlers(inputs, outputs)[0] ?? { handler: 'base_handler', seen: outputs };
}

/** Returns the handlers that may read a model's outputs, by the signatures of the tasks, the nearest first. */
export function nearestHandlers(inputs: readonly TensorInfo[], outputs: readonly OutputInfo[]): readonly Nearest[] {
  const reads = contentOf(inputs);
  const found = Object.entries(TASKS).flatMap(([handler, { nearest = [] }]) =>
    nearest.flatMap((signature) => {
      const seen = signature.reads === reads ? evidence(signature, inputs, outputs) : undefined;
      return seen ? [{ order: signature.order, handler, seen }] : [];
    }),
  );
  return found.toSorted((a, b) => a.order - b.order);
}

/** Returns the kind of a model's inputs; undefined for numbers of another kind. */
function contentOf(inputs: readonly TensorInfo[]): Signature['reads'] | undefined {
  // Of phonemes, Piper's.
  const isOfTexts = inputs.some(({ name }) => name === 'input_ids' || name === 'input_lengths');
  const isOfImages = inputs.some(({ name, dims }) => dims.length === 4 && !name.startsWith('past'));
  const unmasked = inputs.filter(({ name }) => name !== 'attention_mask');
  const isOfSound =
    // Samples, or a spectrogram.
    (unmasked.length === 1 && ['input_values', 'input_features'].includes(unmasked[0]!.name)) ||
    // A filter bank.
    (inputs.length === 1 && inputs[0]!.dims.length === 3 && inputs[0]!.dims[2] === 80) ||
    // Silero's sampling rate.
    inputs.some(({ name }) => name === 'sr');
  if (isOfImages) return isOfTexts ? 'images-and-texts' : 'images';
  if (isOfTexts) return 'texts';
  return isOfSound ? 'sound' : undefined;
}

/** Returns the outputs by which a model has a signature; undefined if it does not have it. */
function evidence(
  { input, outputs: names = [], hasBoxes, main }: Signature,
  inputs: readonly TensorInfo[],
  outputs: readonly OutputInfo[],
): readonly OutputInfo[] | undefined {
  const called = (name: string | readonly string[]): OutputInfo | undefined =>
    [name].flat().flatMap((one) => outputs.filter((output) => output.name === one))[0];
  const seen = [
    ...(main ? [mainOutput(main, called('logits') ?? outputs[0], inputs, outputs)] : []),
    ...names.map(called),
    ...(hasBoxes ? [outputs.find(({ name, dims }) => isBoxes(name, dims))] : []),
  ];
  const hasInput = input === undefined || inputs.some(({ name }) => name.startsWith(input));
  return hasInput && seen.every((one) => one !== undefined) ? seen : undefined;
}

/** Returns the output if it matches a signature. */
function mainOutput(
  { rank, isLogits, name, isOnly, channels, ends, isDetections, lastBelow }: NonNullable<Signature['main']>,
  output: OutputInfo | undefined,
  inputs: readonly TensorInfo[],
  outputs: readonly OutputInfo[],
): OutputInfo | undefined {
  if (!output) return undefined;
  const { dims } = output;
  const last = dims.at(-1);
  const image = inputs.find((input) => input.dims.length === 4);
  const fits =
    (rank === undefined || dims.length === rank) &&
    (isLogits === undefined || output.name.includes('logits') === isLogits) &&
    (name === undefined || [output.name, output.op ?? ''].some((one) => name.includes(wordsOf(one)))) &&
    (isOnly === undefined || (outputs.length === 1) === isOnly) &&
    (channels === undefined || dims.at(isLast(image) ? -1 : 1) === channels) &&
    (ends === undefined || ends.every((size, index) => dims.at(index - ends.length) === size)) &&
    (isDetections === undefined || isOfDetections(dims, image) === isDetections) &&
    (lastBelow === undefined || (typeof last === 'number' && last < lastBelow));
  return fits ? output : undefined;
}

/** Returns the words of a name, without the numbers that exporters add. */
function wordsOf(name: string): string {
  return name
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean)
    .join('_');
}

/** Returns whether an image's channels are its last dimension. */
function isLast(image: TensorInfo | undefined): boolean {
  return image?.dims.at(-1) === 3 && image.dims[1] !== 3;
}

/** The strides of YOLO's feature maps, and how many boxes it finds at each point. */
const STRIDES = [8, 16, 32];
const BOXES = [1, 3];
/** Corners, score and class. */
const ROW = 6;

function isOfDetections([, rows, columns]: OutputInfo['dims'], image: TensorInfo | undefined): boolean {
  if (columns === ROW) return true;
  const [height, width] = image?.dims.slice(...(isLast(image) ? [1, 3] : [2, 4])) ?? [];
  if (typeof height !== 'number' || typeof width !== 'number') return false;
  const points = STRIDES.reduce((sum, stride) => sum + Math.ceil(height / stride) * Math.ceil(width / stride), 0);
  return BOXES.some((boxes) => rows === boxes * points || columns === boxes * points);
}

function isBoxes(name: string, dims: OutputInfo['dims']): boolean {
  return name.includes('box') && dims.length === 3 && (dims[2] === 4 || typeof dims[2] !== 'number');
}

function describe({ name, dims }: OutputInfo): string {
  return `"${name}" [${dims.map((size) => size ?? '?').join(', ')}]`;
}
