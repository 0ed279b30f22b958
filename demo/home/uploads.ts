/**
 * Counts the bytes that this page, or this worker, sends: the bodies of `fetch`, `XMLHttpRequest` and `sendBeacon`, and
 * the messages of a `WebSocket`. It must be imported before what it counts.
 */
let sent = 0;
const listeners = new Set<(sent: number) => void>();

/**
 * Calls `listener` with the bytes that were sent since the script was loaded: now, and after each request with a body.
 */
export function onUpload(listener: (sent: number) => void): () => void {
  listeners.add(listener);
  listener(sent);
  return () => void listeners.delete(listener);
}

async function count(body: Response | Request): Promise<void> {
  sent += (await body.arrayBuffer()).byteLength;
  for (const listener of listeners) listener(sent);
}

/** Replaces a method by one that first sees its owner and its arguments. */
function watch<Host extends object>(
  host: Host | undefined,
  name: keyof Host,
  see: (owner: Host, ...args: never[]) => void,
): void {
  if (!host) return;
  const original = host[name] as (...args: unknown[]) => unknown;
  host[name] = function (this: unknown, ...args: unknown[]) {
    see(this as Host, ...(args as never[]));
    return original.apply(this, args);
  } as Host[typeof name];
}

const body = (what: BodyInit | null | undefined): void => {
  if (what !== null && what !== undefined) void count(new Response(what));
};
const request = globalThis.fetch.bind(globalThis);
globalThis.fetch = async (input, init) => {
  const hasBody = (init?.body ?? undefined) !== undefined || (input instanceof Request && input.method !== 'GET');
  if (!hasBody) return await request(input, init);
  const whole = new Request(input, init);
  void count(whole.clone());
  return await request(whole);
};
watch(globalThis.XMLHttpRequest?.prototype, 'send', (_, what: XMLHttpRequestBodyInit | null) => body(what));
watch(globalThis.WebSocket?.prototype, 'send', ({ protocol }, what: Exclude<BodyInit, ReadableStream>) => {
  // Vite's development server asks its own script whether the page is still there.
  if (!protocol.startsWith('vite-')) body(what);
});
watch(globalThis.navigator as Navigator | undefined, 'sendBeacon', (_, __: string, what: BodyInit | null) =>
  body(what),
);
