/** An image segmenter whose GPU can be taken away, and whose thread can be blocked, by a message of the page. */
import { expose, ImageSegmenter } from '../../src/worker.js';
import { lose } from './gpu.js';
import type { Harm } from './harm.js';

addEventListener('message', ({ data }: MessageEvent<{ readonly harm?: Harm } | undefined>) => {
  if (data?.harm === 'lose') lose();
  if (data?.harm === 'block') for (;;);
});

expose(ImageSegmenter);
