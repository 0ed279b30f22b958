/** The text of one kernel's `.wasm.ts`; `path` is under `src`, without its ending. */
export function buildKernel(
  path:
    | 'worker/transforms/resample'
    | 'worker/transforms/crop'
    | 'worker/images/planar/ycc'
    | 'worker/images/planar/video'
    | 'worker/outputs/interpolate',
): Promise<string>;
