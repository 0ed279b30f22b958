/**
 * Memory that is used again, for pixels and for copies of inputs: a fresh 48 MB costs as much time as reading into it.
 */
const MAX_IDLE_BYTES = 96 * 2 ** 20;
const MAX_IDLE_BUFFERS = 4;
/** Smaller ones are quickly made, and would take the place of large ones. */
const MIN_BYTES = 2 ** 14;
/** A buffer this many times too large is left for a larger image, and in time dropped. */
const MAX_SLACK = 4;

/** Oldest first. */
const idle: ArrayBuffer[] = [];

/** A buffer of at least `bytes` bytes, with anything in it. It is the caller's until given back. */
export function takeBuffer(bytes: number): ArrayBuffer {
  if (bytes < MIN_BYTES) return new ArrayBuffer(bytes);
  const found = idle.findIndex(({ byteLength }) => byteLength >= bytes && byteLength <= bytes * MAX_SLACK);
  return found < 0 ? new ArrayBuffer(bytes) : idle.splice(found, 1)[0]!;
}

/** Gives a buffer back that nothing refers to any more. */
export function giveBack(buffer: ArrayBuffer): void {
  if (buffer.byteLength < MIN_BYTES) return;
  idle.push(buffer);
  let total = idle.reduce((sum, { byteLength }) => sum + byteLength, 0);
  while (total > MAX_IDLE_BYTES || idle.length > MAX_IDLE_BUFFERS) total -= idle.shift()!.byteLength;
}

/** Larger ones are not kept ready: they would cost more memory than they save time. */
const MAX_READY_BYTES = 2 ** 23;
const MAX_READY = 2;

/** By size, oldest first. */
const ready = new Map<number, ArrayBuffer>();

/**
 * A buffer of just `bytes` bytes, to be given away. Fresh memory costs a page fault for every 4 kB when it is first written (600 kB: 0.4 ms, where
 * a copy takes 0.03): so the next one of this size is made, and touched, as soon as the page has nothing else to do.
 */
export function takeReady(bytes: number): ArrayBuffer {
  if (bytes < MIN_BYTES || bytes > MAX_READY_BYTES) return new ArrayBuffer(bytes);
  const buffer = ready.get(bytes);
  ready.delete(bytes);
  setTimeout(makeReady, 0, bytes);
  return buffer ?? new ArrayBuffer(bytes);
}

function makeReady(bytes: number): void {
  if (ready.has(bytes)) return;
  const buffer = new ArrayBuffer(bytes);
  const view = new Uint8Array(buffer);
  for (let at = 0; at < bytes; at += 4096) view[at] = 0;
  ready.set(bytes, buffer);
  if (ready.size > MAX_READY) ready.delete(ready.keys().next().value!);
}
