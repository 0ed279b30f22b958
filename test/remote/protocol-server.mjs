/**
 * A server of models for tests: the REST part of the Open Inference Protocol v2 with the binary tensor data extension,
 * and TorchServe's inference API. Written from the specifications, and from nothing of `src/`, so that the remote
 * engine is tested against something else than itself.
 *
 * The first part of a path may name a fault: with the URL `http://127.0.0.1:PORT/html/` for a server, every prediction
 * is answered with a page.
 */
import { createServer } from 'node:http';

/** Each datatype: its size in bytes, and how Node reads and writes it. */
const DATATYPES = {
  BOOL: [1, 'readUInt8', 'writeUInt8'],
  UINT8: [1, 'readUInt8', 'writeUInt8'],
  UINT16: [2, 'readUInt16LE', 'writeUInt16LE'],
  UINT32: [4, 'readUInt32LE', 'writeUInt32LE'],
  UINT64: [8, 'readBigUInt64LE', 'writeBigUInt64LE'],
  INT8: [1, 'readInt8', 'writeInt8'],
  INT16: [2, 'readInt16LE', 'writeInt16LE'],
  INT32: [4, 'readInt32LE', 'writeInt32LE'],
  INT64: [8, 'readBigInt64LE', 'writeBigInt64LE'],
  FP16: [2, 'readUInt16LE', 'writeUInt16LE'],
  FP32: [4, 'readFloatLE', 'writeFloatLE'],
  FP64: [8, 'readDoubleLE', 'writeDoubleLE'],
};
const HEADER = 'inference-header-content-length';

class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function createProtocolServer(models) {
  const counts = new Map();
  let under = 0;
  const server = createServer(async (request, response) => {
    server.most = Math.max(server.most, ++under);
    response.on('close', () => under--);
    const origin = request.headers.origin;
    if (origin) {
      response.setHeader('Access-Control-Allow-Origin', origin);
      response.setHeader('Access-Control-Allow-Headers', `authorization, content-type, ${HEADER}, x-team`);
      response.setHeader('Cross-Origin-Resource-Policy', 'cross-origin');
    }
    if (request.method === 'OPTIONS') return response.writeHead(204).end();
    try {
      const body = Buffer.concat(await request.toArray());
      server.seen.push({ method: request.method, url: request.url, headers: request.headers, body });
      const [, fault, path] = /^(?:\/(?!v2\b|ping\b|predictions\b)([\w-]+))?(\/.*)$/.exec(request.url);
      await answer({ fault: fault ?? '', path, body, request, response, models, counts });
    } catch (error) {
      json(
        response,
        error.status ?? 500,
        path(request).startsWith('/v2')
          ? { error: error.message }
          : { code: error.status ?? 500, type: error.name, message: error.message },
      );
    }
  });
  server.seen = [];
  server.most = 0;
  return server;
}

const path = (request) => request.url.replace(/^\/(?!v2\b|ping\b|predictions\b)[\w-]+/, '');

function json(response, status, value) {
  response
    .writeHead(status, { 'Content-Type': 'application/json' })
    .end(typeof value === 'string' ? value : JSON.stringify(value));
}

async function answer(call) {
  const { fault, path, request, response, models } = call;
  if (fault === 'private' && request.headers.authorization !== 'Bearer secret') throw new HttpError(401, 'no token');
  if (fault === 'all-html') return html(response);
  if (path === '/v2/health/live' || path === '/v2/health/ready') return json(response, 200, { live: true });
  if (path === '/v2') {
    const extensions = fault === 'json-only' ? [] : ['binary_tensor_data'];
    if (fault === 'no-metadata') throw new HttpError(404, 'there is no such page');
    return json(response, 200, { name: 'test', version: '1', extensions });
  }
  if (path === '/ping') return json(response, 200, { status: 'Healthy' });
  const v2 = /^\/v2\/models\/([^/]+)(?:\/versions\/([^/]+))?(?:\/(ready|infer))?$/.exec(path);
  const prediction = /^\/predictions\/([^/]+)(?:\/([^/]+))?$/.exec(path);
  const [name, version] = (v2 ?? prediction ?? []).slice(1, 3);
  const model = Object.hasOwn(models, decodeURIComponent(name ?? '')) ? models[decodeURIComponent(name)] : undefined;
  if (!model) throw new HttpError(404, `there is no model ${name}`);
  if (version !== undefined && version !== '1') throw new HttpError(404, `there is no version ${version}`);
  const what = v2?.[3];
  if (v2 && what === 'ready') {
    if (fault === 'not-ready') return json(response, 200, { name, ready: false });
    return json(response, 200, { name, ready: true });
  }
  if (v2 && what === undefined) {
    const { inputs, outputs } = model;
    if (fault === 'bf16')
      return json(response, 200, {
        name,
        platform: 'test',
        inputs: inputs.map((one) => ({ ...one, datatype: 'BF16' })),
        outputs,
      });
    if (fault === 'silent') return json(response, 200, { name, platform: 'test', inputs: [], outputs: [] });
    return json(response, 200, { name, versions: ['1'], platform: 'test', inputs, outputs });
  }
  if (request.method !== 'POST') throw new HttpError(405, 'use POST');
  await predict({ ...call, model, name, isV2: v2 !== null });
}

/** Faults of a prediction, then the prediction. */
async function predict(call) {
  const { fault, request, response, counts } = call;
  switch (fault) {
    case 'html':
      return html(response);
    case 'slow':
      return undefined;
    case 'redirect':
      return response
        .writeHead(307, { Location: `${request.headers['x-elsewhere'] ?? 'http://127.0.0.1:9'}/v2` })
        .end();
    case 'busy-twice':
    case 'broken-twice': {
      const count = counts.get(fault) ?? 0;
      counts.set(fault, count + 1);
      if (count >= 2) break;
      if (fault === 'broken-twice') return request.socket.destroy();
      throw new HttpError(503, 'all workers are busy');
    }
    case 'busy':
      throw new HttpError(503, 'all workers are busy');
    case 'error':
      throw new HttpError(500, `Internal error in the kernel:\n\u0007${'x'.repeat(1000)}`);
    case 'refuses':
      throw new HttpError(400, 'unexpected shape for input');
    case 'half':
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 10_000 });
      return response.write('{"outputs":[{"name":"y","shape"', () => request.socket.destroy());
    case 'cut':
      return json(response, 200, '{"outputs":[{"name":"y","shape":[1,2],"datatype":"FP32","data":[1,');
    case 'too-large':
      return response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': 2 ** 40 }).flushHeaders();
  }
  return call.isV2 ? await infer(call) : await rows(call);
}

function html(response) {
  response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end('<!doctype html><p>Please log in.</p>');
}

async function infer({ fault, body, request, response, model, name }) {
  const length = request.headers[HEADER] === undefined ? body.length : Number(request.headers[HEADER]);
  if (fault === 'json-only' && length !== body.length) throw new HttpError(400, 'this server reads JSON');
  const message = JSON.parse(body.subarray(0, length).toString());
  let at = length;
  const inputs = message.inputs.map(({ name, datatype, shape, data, parameters = {} }) => {
    const info = model.inputs.find((one) => one.name === name);
    if (!info || info.datatype !== datatype) throw new HttpError(400, `there is no input ${name} of ${datatype}`);
    if (parameters.binary_data_size === undefined) return { name, datatype, shape, values: data.flat(Infinity) };
    const bytes = body.subarray(at, (at += parameters.binary_data_size));
    return { name, datatype, shape, values: valuesOf(bytes, datatype) };
  });
  if (model.inputs.length !== inputs.length) throw new HttpError(400, `there are ${model.inputs.length} inputs`);
  const outputs = (await model.run(inputs)).map((output) => spoil(output, fault));
  const binary = message.parameters?.binary_data_output === true && fault !== 'answers-json';
  const parts = outputs.map(bytesOf);
  const entries = outputs.map(({ name, datatype, shape, values }, index) =>
    binary
      ? { name, datatype, shape, parameters: { binary_data_size: parts[index].length } }
      : { name, datatype, shape, data: values },
  );
  const text = written({ model_name: name, id: message.id, outputs: entries });
  if (!binary) return json(response, 200, text);
  const head = Buffer.from(text);
  const whole = Buffer.concat([head, ...parts]);
  const sent = fault === 'short' ? whole.subarray(0, -3) : whole;
  response.writeHead(200, {
    'Content-Type': 'application/octet-stream',
    [HEADER]: head.length,
    'Content-Length': sent.length,
  });
  response.end(sent);
}

/** Makes an output wrong. */
function spoil(output, fault) {
  const { datatype, shape, values } = output;
  if (fault === 'other-shape') return { ...output, shape: [...shape, 1] };
  if (fault === 'other-size')
    return {
      ...output,
      shape: [...shape.slice(0, -1), shape.at(-1) + 1],
      values: [...values, ...Array(shape[0]).fill(0)],
    };
  if (fault === 'other-dtype') return { ...output, datatype: datatype === 'FP64' ? 'FP32' : 'FP64' };
  if (fault === 'other-name') return { ...output, name: `${output.name}2` };
  if (fault === 'nan') return { ...output, values: values.map(() => NaN) };
  if (fault === 'wrong')
    return { ...output, values: values.map((value, index) => (index === 1 ? value + 0.5 : value)) };
  return output;
}

function valuesOf(bytes, datatype) {
  const [size, read] = DATATYPES[datatype];
  return Array.from({ length: bytes.length / size }, (_, index) => bytes[read](index * size));
}

function bytesOf({ datatype, values }) {
  const [size, , write] = DATATYPES[datatype];
  const bytes = Buffer.alloc(values.length * size);
  values.forEach((value, index) => bytes[write](typeof value === 'boolean' ? Number(value) : value, index * size));
  return bytes;
}

/** One row, as a handler of TorchServe gets it and returns it. */
async function rows({ body, response, model, fault }) {
  const row = JSON.parse(body.toString());
  const inputs = model.inputs.map(({ name, datatype }) => {
    const lists = model.inputs.length === 1 ? row : row[name];
    return { name, datatype, shape: [1, ...shapeOf(lists)], values: [lists].flat(Infinity) };
  });
  const outputs = (await model.run(inputs)).map((output) => spoil(output, fault));
  const lists = outputs.map(({ name, shape, values }) => [name, nested(values, shape.slice(1))]);
  json(response, 200, written(lists.length === 1 ? lists[0][1] : Object.fromEntries(lists)));
}

/** Writes JSON with all digits of integers, as Python does; and NaN, which JSON lacks, as some servers do. */
function written(value) {
  const mark = (_, one) => (typeof one === 'bigint' ? `#${one}#` : Number.isNaN(one) ? '#NaN#' : one);
  return JSON.stringify(value, mark).replaceAll(/"#(.*?)#"/g, '$1');
}

function shapeOf(lists) {
  return Array.isArray(lists) ? [lists.length, ...shapeOf(lists[0])] : [];
}

function nested(values, shape) {
  if (shape.length === 0) return values[0];
  const [length, ...rest] = shape;
  const size = values.length / length;
  return Array.from({ length }, (_, index) => nested(values.slice(index * size, (index + 1) * size), rest));
}
