import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { rename, rm, writeFile } from 'node:fs/promises';
import { ServingError } from '../../serving-error.js';
import { openAiResponse } from '../../http/openai/errors.js';
import { errorOf, errorResponse, jsonResponse } from '../../http/responses.js';
import type { HttpRequest, HttpResponse } from '../../http/messages.js';

/** What a key lets a request do. `API`: make a new one of the two others. */
type Kind = 'management' | 'inference' | 'API';

interface Key {
  readonly key: string;
  /** By `Date.now()`; undefined for one that never expires. */
  readonly expiresAt: number | undefined;
}

/**
 * Lets requests in by keys: TorchServe's token authorization. The keys are in a file that only this user can read; a
 * request has one in its header `Authorization: Bearer KEY`. Health and metrics need none.
 *
 * | Request | Key |
 * |---|---|
 * | `/token?type=management` or `inference`: makes a new key of that kind, and answers with it | API |
 * | `/models…`, `/workflows…`, `/v2/repository…` | management |
 * | everything else, but `/ping`, `/metrics` and `/v2/health…` | inference |
 */
export class Tokens {
  readonly #file: string;
  readonly #lifetime: number;
  readonly #now: () => number;
  #keys: Readonly<Record<Kind, Key>>;
  /** Settles when the file contains the keys that were renewed so far. */
  #renewing: Promise<unknown> = Promise.resolve();

  private constructor(file: string, lifetime: number, now: () => number) {
    this.#file = file;
    this.#lifetime = lifetime;
    this.#now = now;
    this.#keys = {
      management: this.#newKey(),
      inference: this.#newKey(),
      API: { ...this.#newKey(), expiresAt: undefined },
    };
  }

  /**
   * Makes keys, and writes them to a file.
   * @param options.lifetime milliseconds
   * @param options.now the time, by `Date.now()`
   * @throws what writing the file throws
   */
  static async create(
    file: string,
    { lifetime, now = Date.now }: { readonly lifetime: number; readonly now?: () => number },
  ): Promise<Tokens> {
    const tokens = new Tokens(file, lifetime, now);
    await tokens.#write(tokens.#keys);
    return tokens;
  }

  /** Answers a request that makes a key, or that has no key that is needed; passes the others on. Never rejects. */
  async answer(request: HttpRequest, next: (request: HttpRequest) => Promise<HttpResponse>): Promise<HttpResponse> {
    const { pathname, searchParams } = new URL(request.url);
    try {
      const path = segmentsOf(pathname);
      if (path[0] === 'token') return jsonResponse(await this.#renew(request, searchParams.get('type')));
      const kind = kindOf(path, request.method);
      if (kind !== undefined) this.#check(request, kind);
    } catch (error) {
      return isOpenAi(pathname) ? openAiResponse(error) : errorResponse(errorOf(error));
    }
    return await next(request);
  }

  /** @throws `invalid-input` (400, InvalidKeyException) unless the request has the key of this kind */
  #check({ headers }: HttpRequest, kind: Kind): void {
    const [, given = ''] = /^Bearer\s+(\S+)$/.exec(headers.get('authorization') ?? '') ?? [];
    const { key, expiresAt = Infinity } = this.#keys[kind];
    if (!isSame(given, key) || this.#now() > expiresAt)
      throw invalidKey('Token Authorization failed. Token either incorrect, expired, or not provided correctly');
  }

  /** Makes a new key of a kind, and returns it as in the file. */
  async #renew(request: HttpRequest, kind: string | null): Promise<object> {
    this.#check(request, 'API');
    if (kind !== 'management' && kind !== 'inference') throw invalidKey('type: expected management or inference.');
    // One after the other, because each writes the whole file. A key is valid when the file contains it.
    const renewed = this.#renewing.then(async () => {
      const key = this.#newKey();
      const keys = { ...this.#keys, [kind]: key };
      await this.#write(keys);
      this.#keys = keys;
      return written(key);
    });
    this.#renewing = renewed.catch(() => {});
    return await renewed;
  }

  #newKey(): Key {
    return { key: randomBytes(32).toString('base64url'), expiresAt: this.#now() + this.#lifetime };
  }

  /** Replaces the file with the keys atomically, because others read the file meanwhile. */
  async #write(all: Readonly<Record<Kind, Key>>): Promise<void> {
    const keys = Object.fromEntries(Object.entries(all).map(([kind, key]) => [kind, written(key)]));
    const part = `${this.#file}.part`;
    // The mode applies to new files only, and an existing one might be readable for others.
    await rm(part, { force: true });
    await writeFile(part, `${JSON.stringify(keys, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(part, this.#file);
  }
}

/** Returns whether a path is OpenAI's: its clients look for its own codes. KServe's are /v1/models/NAME:VERB. */
function isOpenAi(pathname: string): boolean {
  return pathname.startsWith('/v1/') && !/:\w+\/?$/.test(pathname);
}

/**
 * Returns the segments of a path as the routes read them; those that cannot be decoded, as they are: no route matches
 * them.
 */
function segmentsOf(pathname: string): readonly string[] {
  const segments = pathname.split('/').slice(1);
  const path = segments.at(-1) === '' ? segments.slice(0, -1) : segments;
  try {
    return path.map((segment) => decodeURIComponent(segment));
  } catch {
    return path;
  }
}

/** Returns the kind of key that a request needs; undefined for none. */
function kindOf([first, second, third, ...more]: readonly string[], method: string): Kind | undefined {
  if (first === 'ping' || first === 'metrics' || (first === 'v2' && second === 'health')) return undefined;
  const isInvoke = third === 'invoke' && more.length === 0 && method === 'POST';
  const isManagement =
    first === 'workflows' || (first === 'models' && !isInvoke) || (first === 'v2' && second === 'repository');
  return isManagement ? 'management' : 'inference';
}

/** Returns a key as TorchServe's `key_file.json` has it. */
function written({ key, expiresAt }: Key): object {
  return { key, ...(expiresAt !== undefined && { 'expiration time': new Date(expiresAt).toISOString() }) };
}

/** Compares two texts in constant time. */
function isSame(left: string, right: string): boolean {
  const [one, other] = [left, right].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(one!, other!);
}

function invalidKey(message: string): ServingError {
  return new ServingError('invalid-input', 400, 'InvalidKeyException', message);
}
