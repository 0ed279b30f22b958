import { provideFileDecoder } from '../../worker/images/encoded.js';
import type { HostOptions } from '../../worker/host/host.js';
import { serve } from '../../worker/host/serve.js';
import { decodeFile } from './decode-file.js';
import { nodePlatform } from './platform.js';
import { clientPort } from './thread-worker.js';

/**
 * Serves the client that has started this thread. In any other thread it does nothing, so that a test may import the
 * module of a worker.
 */
export function serveThread(options: Pick<HostOptions, 'engines' | 'handlerClass' | 'builtIn'>): void {
  if (!clientPort) return;
  provideFileDecoder(decodeFile);
  serve({ ...options, platform: nodePlatform }, clientPort);
}
