import type { RequestListener } from 'node:http';
import { answerWith, type ModelServer } from '../../model-server.js';
import { BufferedBodies } from './buffered-bodies.js';
import type { GuardOptions } from './guard.js';
import { respond } from './respond.js';

/**
 * Returns what answers the requests of a server of `node:http`, or of a framework above it, with a model server.
 *
 * ```ts
 * const models = new ModelServer({ load });
 * await models.register('./models/digits/', { name: 'digits' });
 * createServer(nodeListener(models)).listen(8080, '127.0.0.1');
 * ```
 *
 * It answers as `tabserve serve` does, and refuses the web pages of other origins. It reads the body itself, so nothing
 * before it may have read it.
 * @param options who may ask: by default, whoever names an IP address or `localhost`, and no page of another origin
 */
export function nodeListener(
  models: ModelServer,
  { hosts = [], origins = [] }: Partial<GuardOptions> = {},
): RequestListener {
  const options = { hosts, origins, bodies: new BufferedBodies() };
  return (incoming, outgoing) => {
    respond(incoming, outgoing, (request) => answerWith(models, request), options).catch(() => outgoing.destroy());
  };
}
