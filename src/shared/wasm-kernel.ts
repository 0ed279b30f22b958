const PAGE = 65_536;

/** Exports of a kernel that is written out as base64, with memory of their own; undefined where WebAssembly or its SIMD is missing or refused (by a Content Security Policy). */
export function instantiate<Exports>(code: string): Exports | undefined {
  try {
    const bytes = Uint8Array.from(atob(code), (character) => character.charCodeAt(0));
    return new WebAssembly.Instance(new WebAssembly.Module(bytes)).exports as Exports;
  } catch {
    return undefined;
  }
}

/** The bytes of a kernel's memory, which grows to `bytes` at least. */
export function bytesOf(memory: WebAssembly.Memory, bytes: number): Uint8Array<ArrayBuffer> {
  const missing = bytes - memory.buffer.byteLength;
  if (missing > 0) memory.grow(Math.ceil(missing / PAGE));
  return new Uint8Array(memory.buffer);
}
