import { TabServeError } from '../../../contract/errors.js';
import { OWN_FILE } from './graph.js';
import { fields, find, text } from './protobuf.js';
import type { Range } from './ranges.js';

/** The limit for nested subgraphs. */
const MAX_DEPTH = 32;

/** A tensor whose data are in a file beside the model, or in `OWN_FILE`. */
export interface ExternalTensor extends Range {
  /** The file's path, relative to the model. */
  readonly location: string;
}

/**
 * Returns the tensors of an ONNX model that have external data. Field numbers: `onnx.proto` of ONNX (IR version 10). A
 * tensor that does not say where its data end has them to the end of the file: its `to` is Infinity.
 * @throws `model-format` for a location that leads out of the model's folder
 */
export function readExternalTensors(model: Uint8Array): readonly ExternalTensor[] {
  const tensors: ExternalTensor[] = [];
  try {
    for (const { field, value } of fields(model)) {
      if (typeof value === 'number') continue;
      if (field === 7) readGraph(value, tensors, 0);
      // A function's nodes; the graphs of training are not run.
      if (field === 25) for (const node of fields(value)) readNode(7, node, tensors, 0);
    }
  } catch (cause) {
    // A file that is damaged, or not a model, is reported where its signature is read.
    if (!(cause instanceof RangeError)) throw cause;
  }
  return tensors;
}

/**
 * Returns the files with an ONNX model's large tensors, relative to the model; not the model itself, which a graph
 * without weights names.
 * @throws what `readExternalTensors` throws
 */
export function readExternalData(model: Uint8Array): readonly string[] {
  const locations = new Set(readExternalTensors(model).map(({ location }) => location));
  locations.delete(OWN_FILE);
  return [...locations];
}

interface Field {
  readonly field: number;
  readonly value: number | Uint8Array;
}

function readGraph(graph: Uint8Array, tensors: ExternalTensor[], depth: number): void {
  if (depth > MAX_DEPTH)
    throw new TabServeError('model-format', `The ONNX model has graphs that are nested deeper than ${MAX_DEPTH}.`);
  for (const part of fields(graph)) {
    if (typeof part.value === 'number') continue;
    if (part.field === 5) readTensor(part.value, tensors);
    if (part.field === 15) readSparse(part.value, tensors);
    readNode(1, part, tensors, depth);
  }
}

/** Reads a node, if `part` is one: its attributes may contain tensors and graphs. */
function readNode(nodes: number, { field, value: node }: Field, tensors: ExternalTensor[], depth: number): void {
  if (field !== nodes || typeof node === 'number') return;
  for (const { field, value: attribute } of fields(node)) {
    if (field !== 5 || typeof attribute === 'number') continue;
    for (const { field, value } of fields(attribute)) {
      if (typeof value === 'number') continue;
      if (field === 5 || field === 10) readTensor(value, tensors);
      if (field === 22 || field === 23) readSparse(value, tensors);
      if (field === 6 || field === 11) readGraph(value, tensors, depth + 1);
    }
  }
}

function readSparse(tensor: Uint8Array, tensors: ExternalTensor[]): void {
  for (const { field, value } of fields(tensor))
    if ((field === 1 || field === 2) && typeof value !== 'number') readTensor(value, tensors);
}

function readTensor(tensor: Uint8Array, tensors: ExternalTensor[]): void {
  let isExternal = false;
  const entries = new Map<string, string>();
  for (const { field, value } of fields(tensor)) {
    if (field === 14) isExternal = value === 1;
    if (field === 13 && typeof value !== 'number') entries.set(text(find(value, 1)), text(find(value, 2)));
  }
  if (!isExternal) return;
  const location = entries.get('location');
  const from = Number(entries.get('offset') ?? 0);
  const to = from + Number(entries.get('length') ?? Infinity);
  tensors.push({ location: location === OWN_FILE ? location : checkLocation(location), from, to });
}

function checkLocation(location: string | undefined): string {
  const isInside =
    location !== undefined && /^[^/\\:][^\\:]*$/.test(location) && location.split('/').every((part) => part !== '..');
  if (isInside) return location;
  throw new TabServeError(
    'model-format',
    location
      ? `The ONNX model keeps tensors in ${JSON.stringify(location)}; expected the path of a file in its own folder.`
      : 'The ONNX model keeps tensors in another file, and does not name it.',
  );
}

/** Returns the path in the archive of a file beside the model. */
export function besideModel(model: string, location: string): string {
  return model.slice(0, model.lastIndexOf('/') + 1) + location.replace(/^(\.\/)+/, '');
}
