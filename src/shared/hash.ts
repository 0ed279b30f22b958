import { loadScript } from './load-script.js';

/** The maximum number of bytes that every browser reads at once: Chromium, for instance, reads no more than two gigabytes. */
export const MAX_READ_AT_ONCE = 2 ** 31 - 1;

/**
 * Returns the SHA-256 of the files' bytes, one file after the other, in hexadecimal. Without Web Crypto (an insecure
 * context), and where the browser cannot read that many bytes at once, which Web Crypto needs, it computes in JavaScript,
 * at about 200 MB a second.
 */
export async function hashOf(files: readonly Blob[]): Promise<string> {
  const digest = (await digestAtOnce(new Blob([...files]))) ?? (await hashInJavaScript(files));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

async function digestAtOnce(all: Blob): Promise<Uint8Array | undefined> {
  if (!globalThis.crypto?.subtle || all.size > MAX_READ_AT_ONCE) return undefined;
  const bytes = await all.arrayBuffer().catch(() => undefined);
  return bytes && new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

async function hashInJavaScript(files: readonly Blob[]): Promise<Uint8Array> {
  const sha256 = await loadScript(async () => (await import('@noble/hashes/sha2.js')).sha256);
  const hash = sha256.create();
  for (const file of files) {
    const reader = file.stream().getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) hash.update(read.value);
  }
  return hash.digest();
}
