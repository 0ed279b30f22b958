import { openRaw } from './raw.ts';

const scope = globalThis as unknown as Worker;
const raw = await openRaw();
scope.onmessage = async ({ data }: MessageEvent<Float32Array>) => scope.postMessage(await raw.run(data));
scope.postMessage('ready');
