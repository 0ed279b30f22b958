/** A GPU that computes nothing, as far as `transforms/gpu/` uses one. */
export class FakeGpu {
  /** The buffers that exist, destroyed ones included, in the order of their creation. */
  readonly buffers: { readonly size: number; isDestroyed: boolean }[] = [];
  /** What is found wrong with the next work; a test may let it be pending. */
  nextCheck: () => Promise<GPUError | null> = async () => null;
  /** The first bytes of each buffer that is read. */
  contents: Uint8Array = new Uint8Array(0);

  readonly device = {
    limits: {
      maxStorageBufferBindingSize: 2 ** 27,
      maxBufferSize: 2 ** 28,
      maxComputeWorkgroupsPerDimension: 65_535,
      maxTextureDimension2D: 8192,
    },
    lost: new Promise(() => {}),
    queue: { writeBuffer: () => {}, submit: () => {}, onSubmittedWorkDone: async () => {} },
    createBuffer: ({ size }: { readonly size: number }) => {
      const buffer = {
        size,
        isDestroyed: false,
        destroy: () => void (buffer.isDestroyed = true),
        getMappedRange: () => {
          const bytes = new Uint8Array(size);
          bytes.set(this.contents.subarray(0, size));
          return bytes.buffer;
        },
        mapAsync: async () => {},
        unmap: () => {},
      };
      this.buffers.push(buffer);
      return buffer;
    },
    createShaderModule: () => ({}),
    createBindGroupLayout: () => ({}),
    createPipelineLayout: () => ({}),
    createBindGroup: () => ({}),
    createComputePipelineAsync: async () => ({ getBindGroupLayout: () => ({}) }),
    createCommandEncoder: () => ({
      beginComputePass: () => ({ setPipeline() {}, setBindGroup() {}, dispatchWorkgroups() {}, end() {} }),
      copyBufferToBuffer: () => {},
      finish: () => ({}),
    }),
    pushErrorScope: () => {},
    popErrorScope: async () => {
      const check = this.nextCheck;
      this.nextCheck = async () => null;
      return await check();
    },
  } as unknown as GPUDevice;
}

/** What the browser calls the bits of its flags. */
export const GPU_FLAGS = {
  GPUBufferUsage: { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 64, STORAGE: 128 },
  GPUTextureUsage: { COPY_DST: 2, TEXTURE_BINDING: 4, RENDER_ATTACHMENT: 16 },
  GPUMapMode: { READ: 1 },
  GPUShaderStage: { COMPUTE: 4 },
};
