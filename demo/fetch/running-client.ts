/** A client of a model server, as any app has one: all that it knows is `fetch`. */

/** Milliseconds between two requests. */
const EVERY = 500;
/** Milliseconds after which it gives a request up. */
const MAX_MS = 15_000;

export interface Reply {
  /** Of the response; missing if there was none. */
  readonly status?: number;
  readonly headers: Headers;
  /** TorchServe's answer: the probability of each label. */
  readonly scores?: Readonly<Record<string, number>>;
  readonly milliseconds: number;
}

export interface RunningClient {
  /** The path of its requests. */
  path: string;
  /** Whether it sends requests. */
  running: boolean;
  dispose(): void;
}

/** Sends an image after the other, as long as it runs. */
export function runningClient(images: readonly Blob[], path: string, told: (reply: Reply) => void): RunningClient {
  const end = new AbortController();
  const client: RunningClient = { path, running: false, dispose: () => end.abort() };
  let sent = 0;
  const loop = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const since = performance.now();
      if (client.running) {
        const reply = await request(client.path, images[sent++ % images.length]!, end.signal);
        if (!end.signal.aborted) told({ ...reply, milliseconds: performance.now() - since });
      }
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, EVERY - (performance.now() - since))));
    }
  };
  void loop();
  return client;
}

async function request(path: string, image: Blob, end: AbortSignal): Promise<Omit<Reply, 'milliseconds'>> {
  try {
    const signal = AbortSignal.any([end, AbortSignal.timeout(MAX_MS)]);
    const response = await fetch(path, { method: 'POST', body: image, signal });
    const { ok, status, headers } = response;
    return ok ? { status, headers, scores: (await response.json()) as Record<string, number> } : { status, headers };
  } catch {
    return { headers: new Headers() };
  }
}
