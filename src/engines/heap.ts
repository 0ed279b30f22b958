/** The memories of this worker's WebAssembly modules. Modules create most of them before they start, and ONNX Runtime does not expose its own. */
const memories: WebAssembly.Memory[] = [];
let watching = false;

/** Counts every memory that is created from now on. */
export function watchHeap(): void {
  if (watching) return;
  watching = true;
  const Memory = WebAssembly.Memory;
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      memories.push(this);
    }
  };
}

/** Returns the bytes of all counted memories. WebAssembly memory never shrinks. */
export function heapBytes(): number {
  return memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}
