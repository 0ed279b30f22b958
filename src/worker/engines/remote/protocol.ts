import type { RemoteModel } from '../../../contract/remote.js';
import type { OnArrayBuffer, TensorInfo, Tensors } from '../../../contract/tensors.js';
import { formatTensor, type LoadedModel } from '../session.js';
import { isRecord } from '../../../shared/schema.js';
import { TabServeError } from '../../../contract/errors.js';

/** A request to the server. */
export interface HttpRequest {
  /** Below the server's URL. */
  readonly path: string;
  /** Makes it a POST. */
  readonly body?: OnArrayBuffer<Uint8Array> | string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request to the server. @throws `device-lost`, `inference-failed`, `aborted` */
export type Send = (request: HttpRequest) => Promise<Answer>;

/**
 * Opens the model of a name by a protocol.
 * @throws `backend-failed`, `model-config`, `device-lost`, `inference-failed`
 */
export type OpenRemote = (name: string, model: RemoteModel, send: Send) => Promise<Omit<LoadedModel, 'release'>>;

/** Returns names as a path. @throws `model-config` for a name that a URL would change */
export function pathOf(...names: readonly string[]): string {
  const wrong = names.find((name) => name === '' || name === '.' || name === '..');
  if (wrong === undefined) return names.map(encodeURIComponent).join('/');
  throw new TabServeError('model-config', `engine.remote: "${wrong}" cannot be the name or the version of a model.`);
}

/** What a server has answered, whatever its status. */
export interface Answer {
  /** The request's URL. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: ArrayBuffer;
}

/** The maximum number of characters of a server's own message. */
const MAX_MESSAGE_LENGTH = 200;
/** The maximum number of bytes of a body in which a message is looked for. */
const MAX_READ_BYTES = 10_000;

/** Returns whether a server has answered the request: with any status of 200 to 299, and not with a page. */
export function isOk(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300 && !isHtml(answer);
}

function isHtml({ headers }: Answer): boolean {
  return /\bhtml\b/i.test(headers.get('content-type') ?? '');
}

/** Describes an unexpected answer: its URL and status, and the server's message, short and printable. */
export function describeAnswer(answer: Answer): string {
  const { url, status, body } = answer;
  const said = isHtml(answer) ? 'HTML, so it is probably no server of models' : messageIn(body);
  return `${url} answered ${status}${said === '' ? '' : `: ${said}`}`;
}

/**
 * Returns the message of an error's body: `error` in the Open Inference Protocol, `message` in TorchServe, `detail` in
 * FastAPI; otherwise its text.
 */
function messageIn(body: ArrayBuffer): string {
  const text = new TextDecoder().decode(body.slice(0, MAX_READ_BYTES));
  let said: unknown = text;
  try {
    const json: unknown = JSON.parse(text);
    if (isRecord(json))
      said = ['error', 'message', 'detail'].map((key) => json[key]).find((one) => typeof one === 'string');
  } catch {
    // It is not JSON.
  }
  const printable = String(said ?? text)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return printable.length > MAX_MESSAGE_LENGTH ? `${printable.slice(0, MAX_MESSAGE_LENGTH)}…` : printable;
}

/**
 * Returns the outputs that the model declares, without any others.
 * @throws `inference-failed` if one is missing, or has another dtype or other dims than declared
 */
export function checkOutputs(outputs: Tensors, declared: readonly TensorInfo[]): Tensors {
  const checked = declared.map((info) => {
    const { name, dtype, dims } = info;
    const output = Object.hasOwn(outputs, name) ? outputs[name] : undefined;
    if (!output) throw wrong(`has no output "${name}", expected ${formatTensor(info)}`);
    const fits =
      output.dtype === dtype &&
      output.dims.length === dims.length &&
      dims.every((size, axis) => typeof size !== 'number' || size === output.dims[axis]);
    if (!fits) throw wrong(`has "${name}" as ${formatTensor(output)}, expected ${formatTensor(info)}`);
    return [name, output] as const;
  });
  return Object.fromEntries(checked);
}

function wrong(what: string): TabServeError {
  return new TabServeError('inference-failed', `The server's answer ${what}.`);
}
