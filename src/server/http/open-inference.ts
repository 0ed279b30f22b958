import { shorten } from '../../contract/describe-value.js';
import { VERSION } from '../../contract/version.js';
import type { OutputInfo, Tensors } from '../../contract/tensors.js';
import { decodeRequest, encodeResponse } from '../../shared/open-inference/codec.js';
import { loadScript } from '../../shared/load-script.js';
import { datatypeOf } from '../../shared/open-inference/datatypes.js';
import type { ServedVersion } from '../served-version.js';
import { badRequest, unavailable } from '../serving-error.js';
import { checkMethod, resourceNotFound, type RouteContext, type Incoming } from './route.js';
import { readBytes } from './request-body.js';
import { errorOf, jsonResponse, protocolErrorResponse, response } from './responses.js';
import { checkSize } from './result-response.js';
import type { HttpResponse } from './messages.js';

/** Answers `/v2…`: the Open Inference Protocol v2, with the binary tensor data extension. Never rejects. */
export async function openInference(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  try {
    return await route(incoming, context);
  } catch (error) {
    return protocolErrorResponse(errorOf(error));
  }
}

async function route(incoming: Incoming, context: RouteContext): Promise<HttpResponse> {
  const [, area, first, ...rest] = incoming.path;
  if (area === 'repository') {
    const { repository } = await loadScript(() => import('./repository.js'));
    return await repository(incoming, context);
  }
  const isInfer = rest.at(-1) === 'infer';
  checkMethod(incoming, ...(isInfer ? ['POST'] : ['GET', 'HEAD']));
  if (area === undefined)
    return jsonResponse({ name: 'tabserve', version: VERSION, extensions: ['binary_tensor_data', 'model_repository'] });
  if (area === 'health' && rest.length === 0 && (first === 'live' || first === 'ready')) return health(first, context);
  if (area !== 'models' || first === undefined) throw resourceNotFound();
  const version = rest[0] === 'versions' ? rest[1] : undefined;
  const [verb, ...more] = rest[0] === 'versions' ? rest.slice(2) : rest;
  if (more.length > 0 || (rest[0] === 'versions' && version === undefined)) throw resourceNotFound();
  const served = context.registry.find(first, version);
  switch (verb) {
    case undefined:
      return metadata(served, context);
    case 'ready':
      if (served.hasFailed) throw unavailable(`Model "${first}" has no worker.`);
      return jsonResponse({ name: first, ready: true });
    case 'infer':
      return await infer(incoming, context, served);
    default:
      throw resourceNotFound();
  }
}

/** Answers a health check. A server is ready if every model is. */
function health(what: 'live' | 'ready', { registry }: RouteContext): HttpResponse {
  const isHealthy = what === 'live' || registry.defaults.every(({ hasFailed }) => !hasFailed);
  return jsonResponse({ [what]: isHealthy }, isHealthy ? 200 : 503);
}

function metadata(served: ServedVersion, { registry }: RouteContext): HttpResponse {
  const { name, description } = served.options;
  const { backend, inputs = [], outputs = [] } = description;
  return jsonResponse({
    name,
    versions: registry.versions(name).map(({ options }) => options.version),
    platform: backend.engine === 'onnx' ? 'onnx_onnxv1' : backend.engine,
    inputs: inputs.map(tensorMetadata),
    outputs: outputs.map(tensorMetadata),
  });
}

/** Describes a tensor. A dynamic dim is -1. An output whose dtype the model does not declare has no datatype. */
function tensorMetadata({ name, dtype, dims }: OutputInfo): unknown {
  const shape = dims.map((size) => (typeof size === 'number' ? size : -1));
  return { name, ...(dtype && { datatype: datatypeOf(dtype) }), shape };
}

async function infer({ request }: Incoming, context: RouteContext, served: ServedVersion): Promise<HttpResponse> {
  const { name: model, version } = served.options;
  return await served.run(async (client) => {
    const {
      id,
      inputs,
      outputs: wanted,
      binaryOutputs: binary,
    } = decodeRequest(await readBytes(request, context), request.headers);
    const all = await client.infer(inputs, { signal: request.signal, timeout: context.timeout });
    const { body, headers } = encodeResponse(pick(all, wanted), { model, version, id, binary });
    checkSize(body, context.maxResponseSize);
    const { 'Content-Type': type = 'application/json', ...others } = headers;
    return response(body, type, 200, others);
  });
}

/** @throws `invalid-input` for an output that the model does not have */
function pick(outputs: Tensors, wanted: readonly string[] | undefined): Tensors {
  if (!wanted) return outputs;
  return Object.fromEntries(
    wanted.map((name) => {
      if (Object.hasOwn(outputs, name)) return [name, outputs[name]!];
      throw badRequest(
        `The model has no output "${shorten(name)}"; its outputs are ${Object.keys(outputs)
          .map((one) => `"${one}"`)
          .join(', ')}.`,
      );
    }),
  );
}
