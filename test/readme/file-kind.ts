import { connect } from 'tabserve';
import type { FileKindHandler } from './file-kind.worker.js';

const kinds = connect<FileKindHandler>(
  () => new Worker(new URL('./file-kind.worker.ts', import.meta.url), { type: 'module' }),
  { model: '/models/file-kind/' },
);
await kinds.initialize();
const text = new TextEncoder().encode('All human beings are born free and equal in dignity and rights.');
console.log(await kinds.predict(text)); // { label: 'text', score: 0.99… }
const [zeros, noise, few] = await kinds.handle([
  new Uint8Array(1000),
  crypto.getRandomValues(new Uint8Array(10_000)),
  new Uint8Array(3),
]);
console.log([zeros, noise, few].map((row) => (row instanceof Error ? row.message : row?.label)).join(', ')); // sparse, compressed, 3 bytes are too few.
await kinds.dispose();
