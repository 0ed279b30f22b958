/** What we use of MediaPipe; it is installed for a benchmark alone, and types are checked without it. */
declare module '@mediapipe/tasks-vision' {
  /** The files of the engine. */
  interface WasmFileset {
    readonly wasmLoaderPath: string;
  }
  export const FilesetResolver: { forVisionTasks(path: string): Promise<WasmFileset> };
  interface Segmented {
    readonly confidenceMasks?: readonly { getAsFloat32Array(): Float32Array }[];
    close(): void;
  }
  export const ImageSegmenter: {
    createFromOptions(
      files: WasmFileset,
      options: {
        readonly baseOptions: { readonly modelAssetPath: string; readonly delegate: 'CPU' | 'GPU' };
        readonly runningMode: 'IMAGE' | 'VIDEO';
        readonly outputConfidenceMasks: boolean;
      },
    ): Promise<{ segmentForVideo(frame: VideoFrame, milliseconds: number): Segmented }>;
  };
}
