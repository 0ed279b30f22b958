/** Memory that WebAssembly modules of this worker were given. Most is given before they start, and only this way does ONNX Runtime's show. */
const memories: WebAssembly.Memory[] = [];
let watching = false;

/** From now on, memories that are made are counted. */
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

/** Bytes of those. WebAssembly's memory never shrinks. */
export function heapBytes(): number {
  return memories.reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
}
