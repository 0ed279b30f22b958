import type { Validators } from '../../contract/downloads.js';
import type { BlobStore } from './blob-store.js';

/** What is known about a cached file. */
export interface CacheEntry extends Validators {
  /** The key by which the file is found. */
  readonly key: string;
  /** Where the file was downloaded from. */
  readonly url: string;
  /** The file's size. */
  readonly bytes: number;
  /** The name of the blob with the file's content; null if the server had no such file. */
  readonly content: string | null;
  /** When the file was downloaded, in milliseconds since 1970. */
  readonly storedAt: number;
  /** When the visit began that downloaded it, in milliseconds since 1970. */
  readonly visit: number;
  /** When the file was last used, in milliseconds since 1970, to within an hour. */
  readonly usedAt: number;
}

/** A cached file. `blob` is undefined if the server had no such file. */
export interface CachedFile {
  readonly entry: CacheEntry;
  readonly blob: Blob | undefined;
}

/** Entries of this format are read; any others are deleted. */
const FORMAT = 2;
const ENTRY = '.json';
const USED = '.used';

/**
 * Cached files in a store of blobs. A file is two blobs: its content, and the entry that names the content and its
 * size. The entry is written last, and each content has a name of its own. So a crash in the middle leaves a content
 * without an entry, which is never served, and which `sweep` deletes. The last use is a third blob: recording it changes
 * no entry, which another tab may have replaced or deleted meanwhile.
 */
export class CacheEntries {
  readonly #store: BlobStore;

  constructor(store: BlobStore) {
    this.#store = store;
  }

  /**
   * Returns what is known about the file. Uses since it was stored are not looked up: that would take another read for
   * each file that a visit needs.
   */
  async find(key: string): Promise<CacheEntry | undefined> {
    return await this.#read(await idOf(key));
  }

  /** Returns the file if its content is complete. */
  async open(entry: CacheEntry): Promise<CachedFile | undefined> {
    if (entry.content === null) return { entry, blob: undefined };
    const blob = await this.#store.read(entry.content);
    return blob?.size === entry.bytes ? { entry, blob } : undefined;
  }

  /**
   * Stores a file, and replaces the one with the same key.
   * @param blob undefined if the server had no such file
   * @throws a `QuotaExceededError` of the browser's
   */
  async save(
    key: string,
    url: string,
    blob: Blob | undefined,
    { etag, lastModified }: Validators = {},
    visit = Date.now(),
  ): Promise<void> {
    const id = await idOf(key);
    const before = await this.#read(id);
    const content = blob ? `${id}.${uniqueName()}` : null;
    const now = Date.now();
    try {
      if (blob) await this.#store.write(content!, blob);
      await this.#write(id, {
        key,
        url,
        bytes: blob?.size ?? 0,
        content,
        etag,
        lastModified,
        storedAt: now,
        visit,
        usedAt: now,
      });
    } catch (error) {
      if (content) await this.#store.delete(content).catch(() => {});
      throw error;
    }
    if (before?.content) await this.#store.delete(before.content);
  }

  /**
   * Records that a file was used now, unless a recent use, within this many milliseconds, is recorded.
   * @param visit when the visit began in which the server has said that it still has this version; undefined if it
   *   was not asked
   */
  async touch(entry: CacheEntry, within = 0, visit = 0): Promise<void> {
    const id = await idOf(entry.key);
    const now = Date.now();
    const last = await this.#lastUse(id);
    const isRecent = now - Math.max(entry.usedAt, last.at) < within;
    if (isRecent && visit <= Math.max(entry.visit, last.visit)) return;
    // It may have been deleted meanwhile.
    if (await this.#read(id)) await this.#store.write(id + USED, new Blob([`${now} ${Math.max(visit, last.visit)}`]));
  }

  /** Returns when the last visit began in which the server had this version of the file. */
  async lastVisit({ key, visit }: CacheEntry): Promise<number> {
    return Math.max(visit, (await this.#lastUse(await idOf(key))).visit);
  }

  async delete(entry: CacheEntry): Promise<void> {
    await this.#delete(await idOf(entry.key), entry);
  }

  /** Returns the entry of every file, least recently used first. Deletes entries that cannot be read. */
  async list(): Promise<CacheEntry[]> {
    const ids = (await this.#store.names()).filter(isEntry).map((name) => name.slice(0, -ENTRY.length));
    const entries = await Promise.all(
      ids.map(async (id) => {
        const [entry, used] = await Promise.all([this.#read(id), this.#lastUse(id)]);
        // An entry that is just being written cannot be deleted.
        if (!entry) await this.#store.delete(id + ENTRY).catch(() => {});
        return entry && { ...entry, usedAt: Math.max(entry.usedAt, used.at) };
      }),
    );
    return entries.filter((entry) => entry !== undefined).sort((a, b) => a.usedAt - b.usedAt);
  }

  /**
   * Deletes contents that belong to no entry. Returns whether there were any.
   * @param mayDelete returns whether nobody is writing the file with this id now
   */
  async sweep(mayDelete: (id: string) => Promise<boolean>): Promise<boolean> {
    const names = await this.#store.names();
    const parts = new Map<string, string[]>();
    for (const name of names.filter((name) => !isEntry(name))) {
      const id = name.split('.')[0]!;
      parts.set(id, [...(parts.get(id) ?? []), name]);
    }
    let hasDeleted = false;
    for (const [id, ofFile] of parts) {
      const isWhole = names.includes(id + ENTRY) && ofFile.filter((name) => name !== id + USED).length <= 1;
      if (isWhole || !(await mayDelete(id))) continue;
      const entry = await this.#read(id);
      const used = entry ? [entry.content, id + USED] : [];
      for (const name of ofFile.filter((name) => !used.includes(name))) {
        // Two tabs may write new versions of a file at once, and a file that one of them is writing cannot be deleted.
        await this.#store.delete(name).then(
          () => (hasDeleted = true),
          () => {},
        );
      }
    }
    return hasDeleted;
  }

  async #read(id: string): Promise<CacheEntry | undefined> {
    const text = await (await this.#store.read(id + ENTRY))?.text();
    return text === undefined ? undefined : parseEntry(text);
  }

  /**
   * Returns when a use was recorded last, and when the last visit began in which the server still had the file; 0 if
   * none is recorded.
   */
  async #lastUse(id: string): Promise<{ readonly at: number; readonly visit: number }> {
    const [at, visit] = ((await (await this.#store.read(id + USED))?.text()) ?? '').split(' ').map(Number);
    return { at: at || 0, visit: visit || 0 };
  }

  async #write(id: string, entry: CacheEntry): Promise<void> {
    await this.#store.write(id + ENTRY, new Blob([JSON.stringify({ format: FORMAT, ...entry })]));
  }

  /** Deletes as much as possible: the content of a private file must not stay because its entry is in use. */
  async #delete(id: string, { content }: CacheEntry): Promise<void> {
    const names = [id + ENTRY, id + USED, ...(content === null ? [] : [content])];
    await settleAll(names.map((name) => this.#store.delete(name)));
  }
}

/** Waits until all work has ended. @throws the first failure */
export async function settleAll(work: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(work);
  await Promise.all(work);
}

/** Returns the sizes of files, together. */
export function totalOf(entries: readonly CacheEntry[]): number {
  return entries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function isEntry(name: string): boolean {
  return name.endsWith(ENTRY);
}

/** Returns the entry; undefined if the text is none: half-written, or of another version of TabServe. */
function parseEntry(text: string): CacheEntry | undefined {
  try {
    const { format, ...entry } = JSON.parse(text) as CacheEntry & { readonly format: unknown };
    const { key, url, bytes, content, storedAt, visit, usedAt } = entry;
    const isWhole =
      format === FORMAT &&
      [key, url].every((value) => typeof value === 'string') &&
      [bytes, storedAt, visit, usedAt].every(Number.isFinite) &&
      (content === null || typeof content === 'string');
    return isWhole ? entry : undefined;
  } catch {
    return undefined;
  }
}

const ids = new Map<string, Promise<string>>();

/**
 * Returns a key's SHA-256 in hexadecimal: the name of a file may not be as long as a URL. Each hash is cached, because
 * another thread computes it.
 */
export function idOf(key: string): Promise<string> {
  const id = ids.get(key) ?? computeId(key);
  ids.set(key, id);
  id.catch(() => ids.delete(key));
  return id;
}

async function computeId(key: string): Promise<string> {
  if (!globalThis.crypto?.subtle) throw new Error('a cache needs a secure context (https, or localhost)');
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(key));
  return hexadecimal(new Uint8Array(digest));
}

function uniqueName(): string {
  return hexadecimal(crypto.getRandomValues(new Uint8Array(8)));
}

function hexadecimal(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
