import { TabServeError } from '../../../contract/errors.js';
import { OWN_FILE } from './graph.js';
import { fields, find, text } from './protobuf.js';

/** The limit for nested subgraphs. */
const MAX_DEPTH = 32;

/**
 * Returns the files with an ONNX model's large tensors: the `location` of each tensor with external data, relative to
 * the model; not the model itself, which a graph without weights names. Field numbers: `onnx.proto` of ONNX (IR version
 * 10).
 * @throws `model-format` for a location that leads out of the model's folder
 */
export function readExternalData(model: Uint8Array): readonly string[] {
  const locations = new Set<string>();
  try {
    for (const { field, value } of fields(model)) {
      if (typeof value === 'number') continue;
      if (field === 7) readGraph(value, locations, 0);
      // A function's nodes; the graphs of training are not run.
      if (field === 25) for (const node of fields(value)) readNode(7, node, locations, 0);
    }
  } catch (cause) {
    // A file that is damaged, or not a model, is reported where its signature is read.
    if (!(cause instanceof RangeError)) throw cause;
  }
  return [...locations];
}

interface Field {
  readonly field: number;
  readonly value: number | Uint8Array;
}

function readGraph(graph: Uint8Array, locations: Set<string>, depth: number): void {
  if (depth > MAX_DEPTH)
    throw new TabServeError('model-format', `The ONNX model has graphs that are nested deeper than ${MAX_DEPTH}.`);
  for (const part of fields(graph)) {
    if (typeof part.value === 'number') continue;
    if (part.field === 5) readTensor(part.value, locations);
    if (part.field === 15) readSparse(part.value, locations);
    readNode(1, part, locations, depth);
  }
}

/** Reads a node, if `part` is one: its attributes may contain tensors and graphs. */
function readNode(nodes: number, { field, value: node }: Field, locations: Set<string>, depth: number): void {
  if (field !== nodes || typeof node === 'number') return;
  for (const { field, value: attribute } of fields(node)) {
    if (field !== 5 || typeof attribute === 'number') continue;
    for (const { field, value } of fields(attribute)) {
      if (typeof value === 'number') continue;
      if (field === 5 || field === 10) readTensor(value, locations);
      if (field === 22 || field === 23) readSparse(value, locations);
      if (field === 6 || field === 11) readGraph(value, locations, depth + 1);
    }
  }
}

function readSparse(tensor: Uint8Array, locations: Set<string>): void {
  for (const { field, value } of fields(tensor))
    if ((field === 1 || field === 2) && typeof value !== 'number') readTensor(value, locations);
}

function readTensor(tensor: Uint8Array, locations: Set<string>): void {
  let isExternal = false;
  let location: string | undefined;
  for (const { field, value } of fields(tensor)) {
    if (field === 14) isExternal = value === 1;
    if (field !== 13 || typeof value === 'number') continue;
    if (text(find(value, 1)) === 'location') location = text(find(value, 2));
  }
  if (isExternal && location !== OWN_FILE) locations.add(checkLocation(location));
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
