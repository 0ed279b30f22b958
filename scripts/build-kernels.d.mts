/** The text of one kernel's `.wasm.ts`; `path` is under `src`, without its ending. */
export function buildKernel(
  path: 'transforms/resample' | 'images/planar/ycc' | 'images/planar/video' | 'outputs/interpolate',
): Promise<string>;
