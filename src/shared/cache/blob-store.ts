/**
 * Blobs by name. A store does not know what they are: `CacheEntries` makes entries of them, and checks whether a blob
 * is complete. Every method rejects if the browser has no such store here: a sandboxed frame, an insecure context,
 * blocked site data.
 */
export interface BlobStore {
  /** Returns a blob that stays readable after `delete`. */
  read(name: string): Promise<Blob | undefined>;
  /**
   * Writes a blob, or replaces it. A crash in the middle may leave a part of it.
   * @throws a `QuotaExceededError` of the browser's
   */
  write(name: string, blob: Blob): Promise<void>;
  /** Deletes a blob, if it is there. */
  delete(name: string): Promise<void>;
  names(): Promise<string[]>;
  /** Returns whether nothing was ever written. May return false for a store that is empty. */
  isNew(): Promise<boolean>;
}
