const PAGE = 65_536;

/**
 * Instantiates a kernel from base64. Returns undefined if WebAssembly or its SIMD is missing, or if a Content Security
 * Policy forbids it.
 */
export function instantiate<Exports>(code: string): Exports | undefined {
  try {
    const bytes = Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
    return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Exports;
  } catch {
    return undefined;
  }
}

/** Grows a kernel's memory to at least `bytes` bytes, and returns all of its bytes. */
export function bytesOf(memory: WebAssembly.Memory, bytes: number): Uint8Array<ArrayBuffer> {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  return new Uint8Array(memory.buffer);
}
