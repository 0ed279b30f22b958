const scope = globalThis as unknown as Worker;
scope.onmessage = ({ data }: MessageEvent<Float32Array>) => scope.postMessage(data.length);
