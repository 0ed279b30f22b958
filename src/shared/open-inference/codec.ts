/**
 * The messages of `POST …/infer` of the Open Inference Protocol v2 over HTTP, with Triton's binary tensor data
 * extension. Sources: `inference_rest.md` and `inference_grpc.md` (its list of datatypes) of
 * kserve/open-inference-protocol; `extension_binary_data.md` of triton-inference-server/server.
 */
import { describeValue } from '../../contract/describe-value.js';
import type { Tensors } from '../../contract/tensors.js';
import { whyTooCostly } from '../json-cost.js';
import { isRecord } from '../schema.js';
import { readBody, writeBody, type EncodedMessage } from './body.js';
import { Fault, withFaults } from './fault.js';
import { readTensors, writeTensors, type BinaryTensors } from './tensors.js';

export interface RequestOptions {
  /** Whether the tensors travel as bytes, there and back. */
  readonly binary: boolean;
  /** The outputs that are wanted. @default all */
  readonly outputs?: readonly string[] | undefined;
}

export interface DecodedRequest {
  /** The request's id, which the response repeats; undefined if it has none. */
  readonly id: string | undefined;
  readonly inputs: Tensors;
  /** Which outputs the caller wants as bytes: what `encodeResponse` takes as `binary`. */
  readonly binaryOutputs: BinaryTensors;
  /** The names of the outputs that the caller wants; undefined for all. */
  readonly outputs: readonly string[] | undefined;
}

export interface ResponseOptions {
  readonly model: string;
  readonly version?: string | undefined;
  readonly id?: string | undefined;
  readonly binary: BinaryTensors;
}

/**
 * Returns the body and the headers of a request.
 * @throws `invalid-input` for what JSON cannot hold, if it is not binary: float16, NaN and infinity
 */
export function encodeRequest(inputs: Tensors, { binary, outputs }: RequestOptions): EncodedMessage {
  return withFaults('invalid-input', 'The request', () => {
    const { json, parts } = writeTensors(inputs, binary);
    const members = [
      ...(binary ? ['"parameters":{"binary_data_output":true}'] : []),
      `"inputs":${json}`,
      ...(outputs ? [`"outputs":${JSON.stringify(outputs.map((name) => ({ name })))}`] : []),
    ];
    return writeBody(`{${members.join(',')}}`, parts);
  });
}

/** Reads a request. @throws `invalid-input` naming what is wrong */
export function decodeRequest(body: ArrayBuffer, headers: Headers): DecodedRequest {
  return withFaults('invalid-input', 'The request', () => {
    const { json, binary } = readBody(body, headers, checkCost);
    if (!isRecord(json)) throw new Fault(`it is ${describeValue(json)}, expected a mapping with "inputs"`);
    const { id, inputs, outputs, parameters } = json;
    if (id !== undefined && typeof id !== 'string') throw new Fault(`"id" is ${describeValue(id)}, expected a string`);
    const isBinary = isRecord(parameters) && parameters['binary_data_output'] === true;
    return { id, inputs: readTensors(inputs, 'inputs', binary), ...readOutputs(outputs, isBinary) };
  });
}

/**
 * Checks that a text is not too costly to parse. For servers, which read what anybody may send; an app has chosen the
 * server whose answers it reads.
 */
function checkCost(text: string): void {
  const why = whyTooCostly(text);
  if (why !== undefined) throw new Fault(`it has ${why}`);
}

function readOutputs(entries: unknown, isBinary: boolean): Pick<DecodedRequest, 'outputs' | 'binaryOutputs'> {
  if (entries === undefined) return { outputs: undefined, binaryOutputs: isBinary };
  if (!Array.isArray(entries)) throw new Fault(`"outputs" is ${describeValue(entries)}, expected a list`);
  const named = (entries as readonly unknown[]).map((entry, index) => {
    if (!isRecord(entry) || typeof entry['name'] !== 'string')
      throw new Fault(`outputs[${index}] is ${describeValue(entry)}, expected an output with a name`);
    const { name, parameters } = entry;
    const own = isRecord(parameters) ? parameters['binary_data'] : undefined;
    return { name, binary: own === undefined ? isBinary : own === true };
  });
  const binaryOutputs = named.filter(({ binary }) => binary).map(({ name }) => name);
  return { outputs: named.map(({ name }) => name), binaryOutputs };
}

/**
 * Returns the body and the headers of a response.
 * @throws `invalid-input` for what JSON cannot hold, if the output is not binary: float16, NaN and infinity
 */
export function encodeResponse(outputs: Tensors, { model, version, id, binary }: ResponseOptions): EncodedMessage {
  return withFaults('invalid-input', 'The answer', () => {
    const { json, parts } = writeTensors(outputs, binary);
    const about = JSON.stringify({ model_name: model, model_version: version, id });
    return writeBody(`${about.slice(0, -1)},"outputs":${json}}`, parts);
  });
}

/** Reads the outputs of a response. @throws `inference-failed` naming what is wrong */
export function decodeResponse(body: ArrayBuffer, headers: Headers): Tensors {
  return withFaults('inference-failed', "The server's answer", () => {
    const { json, binary } = readBody(body, headers);
    if (!isRecord(json)) throw new Fault(`it is ${describeValue(json)}, expected a mapping with "outputs"`);
    return readTensors(json['outputs'], 'outputs', binary);
  });
}
