import type { Progress } from '../../contract/archive.js';
import type { AudioInput, PageAudioInput } from '../../contract/audio.js';
import { messageOf, TabServeError } from '../../contract/errors.js';
import type { Handler, Params } from '../../contract/handler.js';
import type { ExplainParamsOf, FormName, InputOf, ParamsOf } from '../../contract/handler-types.js';
import type { HttpExchange } from '../../contract/http.js';
import type { ElementInput, ImageInput } from '../../contract/images.js';
import { REQUEST_SETTINGS, resolveSettings, type RequestSettings } from '../../contract/settings.js';
import { readCallOptions, wrongValue } from '../../shared/read-options.js';
import type { KeptInput } from './retained-value.js';
import type { ExplainProgress } from '../../worker/outputs/explanation.js';

/** What `initialize` takes. */
export interface InitializeOptions {
  /** Aborts downloading and opening; nothing is left running. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

/** What `predict` and `handle` take in addition to the input. */
export interface RequestOptions<Params extends object = object> extends RequestSettings {
  /** Rejects the request at once. If it is running already, its answer is discarded. */
  readonly signal?: AbortSignal;
  /** Parameters of the handler for this request, e.g. `{ topK: 3 }`. */
  readonly params?: Params;
  /**
   * Transfers bitmaps, frames and buffers to the worker instead of copying them. The page can no longer use them. An
   * element keeps its picture, which is sent without a copy. If the worker is lost, the request fails with
   * `worker-lost`, because its input is lost too. @default false
   */
  readonly transfer?: boolean;
  /** The request over HTTP that brought the input, for `context.request`: a `ModelServer` sets it. */
  readonly http?: HttpExchange;
}

/**
 * What `explain` takes in addition to the input: the options of every request, and those of the handler's explanations.
 */
export type ExplainOptions<H extends Handler> = RequestOptions<ParamsOf<H>> &
  ExplainParamsOf<H> & {
    /** Called after each batch of variants of the input that the model has answered. */
    readonly onProgress?: (progress: ExplainProgress) => void;
  };

/**
 * The input that a page may pass to a handler. An image may also be an element of the page, and audio an AudioBuffer;
 * both may be a URL object, whose file the page downloads. A string is never read as a URL, so a text cannot cause a
 * request. Write `new URL('cat.jpg', document.baseURI)`.
 */
export type ClientInput<H extends Handler> = [InputOf<H>] extends [never] ? unknown : KnownInput<H>;

/** What `client.keep` takes: an input of the handler, or the image of an input that has more parts. */
export type KeepableInput<H extends Handler> = [InputOf<H>] extends [never]
  ? unknown
  : OwnInput<H> | ImageOf<InputOf<H>>;

type KnownInput<H extends Handler> = OwnInput<H> | KeptInput | WithKept<InputOf<H>>;

/** An input that contains no kept input. */
type OwnInput<H extends Handler> =
  | InputOf<H>
  | WithElement<InputOf<H>>
  | (ImageInput extends InputOf<H>
      ? ElementInput | URL | { readonly data: ElementInput | URL } | { readonly body: ElementInput | URL }
      : never)
  | (AudioInput extends InputOf<H>
      ? PageAudioInput | { readonly data: PageAudioInput } | { readonly body: PageAudioInput }
      : never);

/** The type of what the page may pass as the image, for inputs that have more parts than an image. */
type ImageOf<Input> = Input extends { readonly image: infer Image }
  ? ImageInput extends Image
    ? ImageInput | ElementInput | URL
    : never
  : never;

type WithElement<Input> = WithImage<Input, ImageOf<Input>>;
/** The image may be a kept input, whether or not the app knows that. */
type WithKept<Input> = WithImage<Input, [ImageOf<Input>] extends [never] ? never : ImageOf<Input> | KeptInput>;

/** Returns an input with another image. */
type WithImage<Input, Image> = [Image] extends [never] ? never : Omit<Input, 'image'> & { readonly image: Image };

/**
 * What a request's `params` may hold. `Form` is the value of the param `result`, where that changes the form of the
 * result.
 */
export type RequestParams<H extends Handler, Form> = [FormName<H>] extends [never]
  ? ParamsOf<H>
  : ParamsOf<H> & { readonly result?: Form };

/** The options of one request, checked, with their defaults. */
export interface CheckedOptions {
  readonly signal: AbortSignal | undefined;
  /** Milliseconds. */
  readonly timeout: number | undefined;
  readonly priority: number;
  /** A copy, so that later changes of the caller's own have no effect. */
  readonly params: Params;
  readonly transfer: boolean;
  readonly http: HttpExchange | undefined;
}

const REQUEST_OPTIONS = ['signal', 'timeout', 'priority', 'transfer', 'params', 'http'] as const;

/**
 * Checks the options of a request.
 * @throws `invalid-input` naming the option; `not-cloneable` for params that cannot be sent
 */
export function readRequestOptions(options: RequestOptions): CheckedOptions {
  const read = readCallOptions(options, 'a request', REQUEST_OPTIONS, ' Keys of the config go into params.');
  const { signal, timeout, priority, params, transfer = false, http } = read;
  const numbers = resolveSettings(REQUEST_SETTINGS, { timeout, priority }, 'invalid-input');
  if (typeof transfer !== 'boolean') throw wrongValue('transfer', 'true or false', transfer);
  if (params !== undefined && (typeof params !== 'object' || params === null || Array.isArray(params)))
    throw wrongValue('params', 'an object', params);
  return { ...numbers, signal: checkedSignal(signal), params: copied(params as Params | undefined), transfer, http };
}

/** Checks the options of `initialize`. @throws `invalid-input` naming the option */
export function readInitializeOptions(options: InitializeOptions): InitializeOptions {
  const { signal, onProgress } = readCallOptions(options, 'initialize', ['signal', 'onProgress']);
  if (onProgress !== undefined && typeof onProgress !== 'function')
    throw wrongValue('onProgress', 'a function', onProgress);
  const checked = checkedSignal(signal);
  return { ...(checked && { signal: checked }), ...(onProgress && { onProgress }) };
}

/** This getter throws for whatever is not a signal, and accepts a signal of another frame. */
const isAborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, 'aborted')!.get!;

/** @throws `invalid-input` for what is no signal */
export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (signal === undefined) return undefined;
  try {
    isAborted.call(signal);
    return signal;
  } catch {
    throw wrongValue('signal', 'an AbortSignal', signal);
  }
}

function copied(params: Params | undefined): Params {
  try {
    return params ? structuredClone(params) : {};
  } catch (cause) {
    throw new TabServeError('not-cloneable', `params cannot be sent to the worker: ${messageOf(cause)}`, { cause });
  }
}
