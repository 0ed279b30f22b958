/** An image segmenter that destroys its GPU or blocks its thread when the page sends a message. */
import { expose, ImageSegmenter } from '../../src/worker.js';
import { lose } from './gpu.js';
import type { Fault } from './faults.js';

addEventListener('message', ({ data }: MessageEvent<{ readonly fault?: Fault } | undefined>) => {
  if (data?.fault === 'lose') lose();
  if (data?.fault === 'block') for (;;);
});

expose(ImageSegmenter);
