import { withinLimit } from '../../shared/limit.js';
import type { Environment } from './environment.js';
import {
  MAX_BROWSER_MS,
  MAX_HANDSHAKE_MS,
  pageOfLock,
  PROTOCOL,
  type Ask,
  type Failure,
  type FromHost,
  type ToHost,
} from './protocol.js';

/** A page that has accepted a request and waits for it. */
export interface Accepted {
  readonly host: string;
  readonly port: MessagePort;
}

/**
 * Finds a page that answers a request: asks all pages of the scope at once, and takes the first that accepts, which is
 * the least busy one. It asks only the browser's locks and the pages, so it also works in a service worker that has
 * just been started.
 *
 * @param lost hosting pages that are not asked again
 * @throws the signal's reason
 */
export async function findPage(
  ask: Omit<Ask, 'tabserve' | 'protocol'>,
  lost: ReadonlySet<string>,
  signal: AbortSignal,
  { clients, locks, clock, scope }: Pick<Environment, 'clients' | 'locks' | 'clock' | 'scope'>,
): Promise<Accepted | Failure> {
  const limit = { milliseconds: MAX_BROWSER_MS, clock };
  const { held = [] } = await withinLimit('The browser', () => locks.query(), limit);
  const found = held.flatMap(({ name }) => pageOfLock(name) ?? []).filter((one) => one.scope === scope);
  const possible = found.filter(({ protocol, host }) => protocol === PROTOCOL && !lost.has(host));
  if (possible.length === 0) return found.some(({ protocol }) => protocol !== PROTOCOL) ? 'other-version' : 'no-host';
  const pages = await withinLimit(
    'The browser',
    () => clients.matchAll({ type: 'window', includeUncontrolled: true }),
    limit,
  );
  const inScope = pages.filter(({ url }) => url.startsWith(scope));
  signal.throwIfAborted();
  if (inScope.length === 0) return 'no-answer';
  const asked = { tabserve: 'ask', protocol: PROTOCOL, ...ask } satisfies Ask;

  const ports: MessagePort[] = [];
  const listening = new AbortController();
  let cancel = (): void => {};
  try {
    return await new Promise<Accepted | Failure>((resolve, reject) => {
      const declined: Failure[] = [];
      for (const page of inScope) {
        const { port1: port, port2 } = new MessageChannel();
        ports.push(port);
        port.onmessage = ({ data }: MessageEvent<FromHost>) => {
          // A page within the scope may belong to an app with a narrower scope of its own, or have listeners of its own
          // that answer any message.
          if (typeof data !== 'object' || !data || !('host' in data)) return;
          if (!possible.some(({ host }) => host === data.host)) return;
          if (data.type === 'accept') resolve({ host: data.host, port });
          else declined.push(data.failure);
          if (declined.length === possible.length) resolve(mostTelling(declined));
        };
        page.postMessage(asked, [port2]);
      }
      cancel = clock.schedule(
        () => resolve(declined.length > 0 ? mostTelling(declined) : 'no-answer'),
        MAX_HANDSHAKE_MS,
      );
      signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: listening.signal });
    }).then((result) => {
      if (typeof result !== 'string') ports.splice(ports.indexOf(result.port), 1);
      return result;
    });
  } finally {
    cancel();
    listening.abort();
    for (const port of ports) end(port);
  }
}

/** Tells the other side that nobody waits any more. */
export function end(port: MessagePort): void {
  port.onmessage = null;
  port.postMessage({ type: 'cancel' } satisfies ToHost);
  port.close();
}

/** Returns the failure that says most: one page may lack the model while another one still loads it. */
function mostTelling(failures: readonly Failure[]): Failure {
  return failures.find((failure) => failure === 'not-ready') ?? failures[0]!;
}
