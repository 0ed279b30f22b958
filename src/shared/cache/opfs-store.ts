import type { BlobStore } from './blob-store.js';

/** Stores blobs as files of the origin private file system, in one of its folders. */
export function opfsStore(folder: string): BlobStore {
  const open = async (create = false): Promise<FileSystemDirectoryHandle> =>
    await (await root()).getDirectoryHandle(folder, { create });
  return {
    async read(name) {
      const read = async (): Promise<Blob | undefined> => {
        const file = await ifFound(async () => (await (await open()).getFileHandle(name)).getFile());
        return file && (await copy(file));
      };
      // Another tab may replace or delete the file while it is read.
      return await read().catch(read);
    },
    async write(name, blob) {
      const handle = await (await open(true)).getFileHandle(name, { create: true });
      if ('createWritable' in handle) await writeStream(handle, blob);
      else await writeSync(handle, blob);
    },
    async delete(name) {
      await ifFound(async () => (await open()).removeEntry(name));
    },
    async isNew() {
      return (await ifFound(open)) === undefined;
    },
    async names() {
      const names: string[] = [];
      for await (const name of (await ifFound(open))?.keys() ?? []) names.push(name);
      return names;
    },
  };
}

/** A file is copied in parts of this many bytes, because a browser reads at most two gigabytes at once. */
const PART_BYTES = 2 ** 26;

/** Copies a `File` of the file system, which cannot be read any more once it is deleted there, or replaced. */
async function copy(file: File): Promise<Blob> {
  const parts: Blob[] = [];
  for (let at = 0; at < file.size; at += PART_BYTES)
    parts.push(new Blob([await file.slice(at, at + PART_BYTES).arrayBuffer()]));
  return new Blob(parts);
}

async function root(): Promise<FileSystemDirectoryHandle> {
  if (!globalThis.navigator?.storage?.getDirectory)
    throw new Error('there is no file system here: it needs a secure context (https, or localhost)');
  return await navigator.storage.getDirectory();
}

async function writeStream(handle: FileSystemFileHandle, blob: Blob): Promise<void> {
  const writable = await handle.createWritable();
  try {
    await writable.write(blob);
    await writable.close();
  } catch (error) {
    // What was written so far takes up quota until the stream ends.
    await writable.abort().catch(() => {});
    throw error;
  }
}

/** A file that one thread has open for reading and writing. TypeScript declares it for workers only. */
interface SyncAccessHandle {
  write(bytes: Uint8Array, options: { readonly at: number }): number;
  truncate(size: number): void;
  flush(): void;
  close(): void;
}

/** Writes a file in a worker of a browser without `createWritable`: Safari before 26. */
async function writeSync(handle: FileSystemFileHandle, blob: Blob): Promise<void> {
  const access = await (
    handle as unknown as { createSyncAccessHandle(): Promise<SyncAccessHandle> }
  ).createSyncAccessHandle();
  try {
    access.truncate(0);
    const reader = blob.stream().getReader();
    let at = 0;
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
      if (access.write(value!, { at }) < value!.byteLength)
        throw new DOMException('The disk is full.', 'QuotaExceededError');
      at += value!.byteLength;
    }
    access.flush();
  } finally {
    access.close();
  }
}

async function ifFound<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof DOMException && error.name === 'NotFoundError') return undefined;
    throw error;
  }
}
