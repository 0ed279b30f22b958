import type { FilePhase, Integrity } from '../../../contract/archive.js';
import type { Validators } from '../../../contract/downloads.js';
import { messageOf, TabServeError } from '../../../contract/errors.js';
import type { Clock } from '../../../shared/clock.js';
import { isHub } from '../../../shared/hub.js';
import { loadScript } from '../../../shared/load-script.js';
import { discard, isPrivate, requestFile, type RequestPolicy } from '../../../shared/request-policy.js';
import { mayPass, readRetryAfter, TransientFailure, withRetries } from '../../../shared/retry.js';
import { readBody, ReceivedBytes, StallTimer } from './read-body.js';
import { checkFile, IF_EDITED } from '../integrity.js';
import { continues, rangeValidator, showsHeaders, validatorsOf, versionOf, type Version } from './version.js';

/** An attempt that brings this many more bytes counts as progress, after which the count of retries starts again. */
const PROGRESS_BYTES = 2 ** 20;

export interface DownloadOptions extends RequestPolicy {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Returns a number in 0..1. */
  readonly random: () => number;
  readonly signal?: AbortSignal | undefined;
  /** Called with the bytes so far, which never fall; with the phase `verify` when all are there. */
  readonly onProgress?: ((loaded: number, total: number | undefined, phase: FilePhase) => void) | undefined;
  /** Called at least once a second while a retry is waited for. */
  readonly onHeartbeat?: (() => void) | undefined;
  /** The size and hash that the file must have. */
  readonly expected?: Integrity | undefined;
  /** The maximum number of bytes that the file may have. */
  readonly maxBytes?: number | undefined;
  /**
   * The validators of the caller's copy: if it is still the server's version, nothing is downloaded; if the server
   * cannot be reached, that is not tried again, except for a private file, whose copy may not be used then.
   */
  readonly validators?: Validators | undefined;
}

/** A file, and what names its version. */
export interface Downloaded extends Validators {
  readonly blob: Blob;
  /** Whether it may be cached for another visit: the server has not said `Cache-Control: no-store`. */
  readonly isStorable: boolean;
}

/**
 * Downloads one file. After a broken or stalled connection it asks for the rest of the same version, or begins again
 * where that is not possible. It retries after network errors, 408, 429 and 5xx (see `withRetries`), and after no other
 * answer. A file whose hash is wrong is downloaded once more, past the HTTP cache, which may hold another version.
 * @returns undefined if there is no such file: the server says 404 or 410, or answers a page of HTML, as development
 *   servers do; `not-modified` if the caller's copy is the server's version
 * @throws `model-format` if the file has not the expected size or hash; `unsupported` for a redirect that is not
 *   allowed; `network`; `aborted`
 */
export async function downloadFile(
  url: URL,
  options: DownloadOptions,
): Promise<Downloaded | 'not-modified' | undefined> {
  const { signal, expected = {}, onProgress, maxBytes } = options;
  const path = url.href;
  if (expected.bytes !== undefined) checkLimit(url, expected.bytes, maxBytes);
  const download = new Download(url, options);
  for (;;) {
    const answer = await withRetries(() => download.attempt(), options).catch((error: unknown) => {
      if (!signal?.aborted) throw error;
      throw new TabServeError('aborted', `The download of ${path} was aborted.`, { cause: signal.reason });
    });
    if (answer === undefined || answer === 'not-modified') return answer;
    const { size } = answer.blob;
    try {
      if (expected.sha256 !== undefined) onProgress?.(size, size, 'verify');
      await checkFile(answer.blob, expected, path);
      return answer;
    } catch (error) {
      if (!download.bypassCache()) throw error;
    }
  }
}

/** @throws `model-format` */
function checkLimit({ href }: URL, bytes: number, maxBytes = Infinity): void {
  if (bytes > maxBytes)
    throw new TabServeError(
      'model-format',
      `${href} has more than ${maxBytes} bytes, the most that such a file may have.`,
    );
}

/** The attempts to download one file, and what they have brought so far. */
class Download {
  readonly #received = new ReceivedBytes();
  /** The version that the received bytes are of. */
  #version: Version | undefined;
  /** Whether the server has begun to send a file, which is not the version of the copy. */
  #hasBegun = false;
  /** The maximum number of bytes that were reported. */
  #reported = 0;
  #bypassesCache = false;
  /** Whether the server refuses to be asked for the rest of a file. */
  #refusesRanges = false;

  constructor(
    private readonly url: URL,
    private readonly options: DownloadOptions,
  ) {}

  /** Begins again, past the HTTP cache. Returns false if it has done so before. */
  bypassCache(): boolean {
    if (this.#bypassesCache) return false;
    this.#restart();
    return (this.#bypassesCache = true);
  }

  /** @throws `TransientFailure` if another attempt may succeed */
  async attempt(): Promise<Downloaded | 'not-modified' | undefined> {
    const { clock, signal, validators } = this.options;
    const stall = new StallTimer(clock);
    const signals = signal ? AbortSignal.any([signal, stall.signal]) : stall.signal;
    const before = this.#reported;
    try {
      if (!this.#version?.resumable || this.#refusesRanges) this.#restart();
      const response = await this.#request(signals);
      const refusal = await hubRefusal(response, this.url, this.options);
      if (refusal) throw refusal;
      const isNew = this.#received.size === 0;
      if (isNew && validators && isSame(response, validators)) {
        discard(response);
        return 'not-modified';
      }
      if (isMissing(response)) {
        discard(response);
        return undefined;
      }
      this.#accept(response);
      await this.#read(response, signals, stall);
      return { blob: this.#received.toBlob(), ...validatorsOf(response), isStorable: isStorable(response) };
    } catch (error) {
      if (error instanceof TabServeError || error instanceof TransientFailure || signal?.aborted) throw error;
      const failure = this.#failed(`could not be downloaded: ${messageOf(error)}${this.#advice()}`, error);
      if (validators && !isPrivate(this.options) && !this.#hasBegun) throw failure;
      throw new TransientFailure(failure, this.#reported >= before + PROGRESS_BYTES);
    } finally {
      stall.stop();
    }
  }

  async #request(signal: AbortSignal): Promise<Response> {
    const { fetch, validators, pageOrigin } = this.options;
    const version = this.#version;
    const headers: Record<string, string> = {};
    // Another origin would first be asked whether it allows these headers (a CORS preflight), and few do. There the
    // answer's validators are compared instead.
    const isOwn = this.url.origin === pageOrigin;
    if (version && this.#received.size > 0) {
      headers['Range'] = `bytes=${this.#received.size}-`;
      if (isOwn) headers['If-Range'] = rangeValidator(version)!;
    } else if (validators && isOwn) {
      if (validators.etag !== undefined) headers['If-None-Match'] = validators.etag;
      else if (validators.lastModified !== undefined) headers['If-Modified-Since'] = validators.lastModified;
    }
    const cache = this.#bypassesCache ? 'reload' : this.#cacheMode();
    const request = (headers: Record<string, string>): Promise<Response> =>
      requestFile(fetch, this.url, this.options, { headers, signal, ...(cache && { cache }) });
    // Of another origin, a browser may ask for permission first (a CORS preflight), which file servers refuse.
    const mayBeRefused = headers['Range'] !== undefined && !isOwn && pageOrigin !== undefined;
    try {
      return await request(headers);
    } catch (error) {
      if (!mayBeRefused || signal.aborted || error instanceof TabServeError) throw error;
      const whole = await request({});
      this.#refusesRanges = true;
      return whole;
    }
  }

  /**
   * Returns the mode of the browser's HTTP cache. That cache does not know whose a private file is: its file may be
   * another user's.
   */
  #cacheMode(): RequestCache | undefined {
    if (isPrivate(this.options)) return 'no-store';
    return this.options.validators && 'no-cache';
  }

  /** Decides whether the response's body is the file, or the rest of it. @throws `TransientFailure`; `network` */
  #accept(response: Response): void {
    const { status, statusText } = response;
    const offset = this.#received.size;
    if (status === 206 && offset > 0 && continues(response, this.#version!, offset)) return;
    if (status === 200) {
      this.#restart();
      this.#version = versionOf(response);
      this.#hasBegun = true;
      return;
    }
    discard(response);
    const answer = `the server answered ${status} ${statusText}`.trim();
    if (status === 206 || status === 416) {
      this.#restart();
      throw new TransientFailure(this.#failed(`${answer}, which is not the rest of the file that was asked for`));
    }
    // A signed address to which the server redirects is valid for a short time. The next attempt gets another one.
    const isExpired = status === 403 && response.url !== '' && new URL(response.url).origin !== this.url.origin;
    if (isExpired) this.#bypassesCache = true;
    if (isExpired || mayPass(status)) throw new TransientFailure(this.#failed(answer), false, readRetryAfter(response));
    const advice =
      status === 401 || status === 403
        ? '. A private model needs the option "request", with headers or credentials'
        : '';
    throw this.#failed(answer + advice);
  }

  async #read(response: Response, signal: AbortSignal, stall: StallTimer): Promise<void> {
    const { expected = {}, maxBytes } = this.options;
    const version = this.#version!;
    const known = expected.bytes ?? version.size;
    stall.restart();
    this.#report(known);
    if (response.body)
      await readBody(response.body, signal, (chunk) => {
        stall.restart();
        checkLimit(this.url, this.#received.size + chunk.byteLength, maxBytes);
        this.#received.add(chunk);
        const { size } = this.#received;
        if (expected.bytes !== undefined && size > expected.bytes)
          throw new TabServeError(
            'model-format',
            `${this.url.href} has more than the expected ${expected.bytes} bytes: damaged, or another version. ${IF_EDITED}`,
          );
        this.#report(known);
      });
    const { size } = this.#received;
    // Another origin may hide that the size is that of a compressed body.
    if (version.size !== undefined && size < version.size && showsHeaders(response))
      throw new Error(`${size} of ${version.size} bytes have arrived`);
    this.#report(size);
  }

  /** Reports progress. The total is wrong if more has arrived: another origin hides that it compresses. */
  #report(total: number | undefined): void {
    const { size } = this.#received;
    this.#reported = Math.max(this.#reported, size);
    this.options.onProgress?.(
      this.#reported,
      total !== undefined && total >= this.#reported ? total : undefined,
      'download',
    );
  }

  #restart(): void {
    this.#received.clear();
    this.#version = undefined;
  }

  /** Returns advice on a missing answer: a browser does not tell why another origin gave none. */
  #advice(): string {
    const { pageOrigin } = this.options;
    if (this.#version || pageOrigin === undefined || this.url.origin === pageOrigin) return '';
    return '. The server cannot be reached, or does not allow this page to read the file (CORS): let it send Access-Control-Allow-Origin';
  }

  #failed(what: string, cause?: unknown): TabServeError {
    return new TabServeError('network', `${this.url.href}: ${what}.`, { cause });
  }
}

/** Returns the error for what the Hub says about a repository; undefined for other responses. */
async function hubRefusal(response: Response, url: URL, options: DownloadOptions): Promise<TabServeError | undefined> {
  if (response.ok || !isHub(url) || !response.headers.has('x-error-code')) return undefined;
  const hubError = await loadScript(async () => (await import('./hub-error.js')).hubError);
  const error = hubError(response, url, options.headers);
  if (error) discard(response);
  return error;
}

/** Returns whether a server has no such file. Development servers answer with a page of HTML instead. */
export function isMissing({ status, ok, headers }: Response): boolean {
  return status === 404 || status === 410 || (ok && /^text\/html\b/i.test(headers.get('content-type') ?? ''));
}

function isStorable({ headers }: Response): boolean {
  return !/\bno-store\b/i.test(headers.get('cache-control') ?? '');
}

/**
 * Returns whether the caller's copy is still the server's version. For another origin, the validators are compared,
 * because conditional headers are not sent there.
 */
function isSame(response: Response, validators: Validators): boolean {
  if (response.status === 304) return true;
  const { etag, lastModified } = validatorsOf(response);
  if (response.status !== 200) return false;
  return etag === undefined || validators.etag === undefined
    ? lastModified !== undefined && lastModified === validators.lastModified
    : etag === validators.etag;
}
