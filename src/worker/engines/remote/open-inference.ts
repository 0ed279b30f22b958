/** A model on a server with the Open Inference Protocol v2: `GET …/ready`, `GET` of its metadata, `POST …/infer`. */
import { describeValue } from '../../../contract/describe-value.js';
import { TabServeError } from '../../../contract/errors.js';
import type { RemoteModel } from '../../../contract/remote.js';
import type { TensorInfo } from '../../../contract/tensors.js';
import { decodeResponse, encodeRequest } from '../../../shared/open-inference/codec.js';
import { dtypeOf } from '../../../shared/open-inference/datatypes.js';
import { withFaults } from '../../../shared/open-inference/fault.js';
import { isRecord } from '../../../shared/schema.js';
import { type Answer, checkOutputs, describeAnswer, isOk, type OpenRemote, pathOf, type Send } from './protocol.js';

/** The extension's name in a server's metadata. */
const BINARY = 'binary_tensor_data';

/** Opens a model: asks whether it is ready, what it takes and returns, and how tensors may travel. */
export const openInference: OpenRemote = async (name, remote, send) => {
  const { version } = remote;
  const path = `v2/models/${version === undefined ? pathOf(name) : pathOf(name, 'versions', version)}`;
  await checkReady(send, path);
  const { inputs, outputs } = readSignature(readJson(await send({ path })), remote);
  const binary = remote.binary ?? (await hasBinary(send));
  const half = [...inputs, ...outputs].find(({ dtype }) => dtype === 'float16');
  if (half && !binary)
    throw failed(`"${half.name}" is float16, which JSON cannot hold, and the server has no binary tensor extension.`);
  return {
    inputs,
    outputs,
    async run(feeds, { signal } = {}) {
      const { body, headers } = encodeRequest(feeds, { binary });
      const answer = await send({ path: `${path}/infer`, body, headers, signal });
      if (!isOk(answer)) throw new TabServeError('inference-failed', `${describeAnswer(answer)}.`);
      return checkOutputs(decodeResponse(answer.body, answer.headers), outputs);
    },
  };
};

/** Checks that the model is ready. KServe says so in the body, Triton by the status alone. */
async function checkReady(send: Send, path: string): Promise<void> {
  const answer = await send({ path: `${path}/ready` });
  const json = isOk(answer) && answer.body.byteLength > 0 ? readJson(answer) : undefined;
  if (!isOk(answer) || (isRecord(json) && json['ready'] === false))
    throw failed(`The model is not ready: ${describeAnswer(answer)}.`);
}

async function hasBinary(send: Send): Promise<boolean> {
  const answer = await send({ path: 'v2' }).catch((error: unknown) => {
    // Every server reads JSON, also one that does not describe itself.
    if (error instanceof TabServeError && error.code === 'device-lost') return undefined;
    throw error;
  });
  if (!answer || !isOk(answer)) return false;
  const metadata = readJson(answer);
  return isRecord(metadata) && Array.isArray(metadata['extensions']) && metadata['extensions'].includes(BINARY);
}

/** @throws `backend-failed` for an answer that is not JSON */
function readJson(answer: Answer): unknown {
  if (!isOk(answer)) throw failed(`${describeAnswer(answer)}.`);
  try {
    return JSON.parse(new TextDecoder().decode(answer.body));
  } catch (cause) {
    throw failed(`${describeAnswer(answer)}; expected JSON.`, cause);
  }
}

function readSignature(metadata: unknown, remote: RemoteModel): Required<Pick<RemoteModel, 'inputs' | 'outputs'>> {
  if (!isRecord(metadata)) throw failed(`The server describes the model as ${describeValue(metadata)}.`);
  const read = (key: 'inputs' | 'outputs'): readonly TensorInfo[] => {
    const entries: unknown = metadata[key];
    const infos = Array.isArray(entries) ? entries.map((entry: unknown) => readInfo(entry, key)) : [];
    const known = infos.length > 0 ? infos : (remote[key] ?? []);
    if (known.length > 0) return known;
    throw failed(
      `The server does not say which ${key} the model has. Declare them in the archive's config: engine.remote.${key}.`,
    );
  };
  return { inputs: read('inputs'), outputs: read('outputs') };
}

/** Reads the description of a tensor. A dynamic dim is −1. */
function readInfo(entry: unknown, key: string): TensorInfo {
  const { name, datatype, shape } = isRecord(entry) ? entry : {};
  if (typeof name !== 'string' || !isShape(shape))
    throw failed(
      `The server describes one of the model's ${key} as ${describeValue(entry)}, expected name, datatype and shape.`,
    );
  const dtype = withFaults('backend-failed', `"${name}" of the server's model`, () => dtypeOf(datatype));
  return { name, dtype, dims: shape.map((size) => (size < 0 ? null : size)) };
}

function isShape(shape: unknown): shape is readonly number[] {
  return Array.isArray(shape) && shape.every((size) => Number.isSafeInteger(size) && size >= -1);
}

function failed(message: string, cause?: unknown): TabServeError {
  return new TabServeError('backend-failed', message, { cause });
}
