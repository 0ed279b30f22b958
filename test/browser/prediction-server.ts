import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What the server behind the URLs does with a prediction: it drops the connection, answers 500, or does not answer. */
type ServerState = 'up' | 'down' | 'failing' | 'slow';

export interface PredictionServer extends AsyncDisposable {
  readonly origin: string;
  state: ServerState;
  /** The requests to models that it got: method, path and bytes of the body. */
  readonly got: string[];
}

/**
 * The origin of an app: a server with models, and the app's files from the test server.
 * @param serviceWorker the script at `/sw.js`
 * @param behind the URL of a real server that answers the requests to models
 */
export async function predictionServer(
  files: string,
  serviceWorker = '/test/readme/fetch.sw.ts',
  behind?: string,
): Promise<PredictionServer> {
  const got: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url === '/sw.js' ? serviceWorker : request.url!;
    // Chromium repeats a request whose kept-alive connection was closed.
    response.setHeader('Connection', 'close');
    const isForModels = /^\/(predictions|ping|metrics|v1|v2|models$)/.test(path);
    void (async () => {
      if (!isForModels) {
        const file = await fetch(new URL(path, files));
        const headers = [...file.headers].filter(
          ([name]) => !['connection', 'keep-alive', 'transfer-encoding'].includes(name),
        );
        response.writeHead(file.status, { ...Object.fromEntries(headers), 'Service-Worker-Allowed': '/' });
        return response.end(Buffer.from(await file.arrayBuffer()));
      }
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      const body = Buffer.concat(parts);
      got.push(`${request.method} ${path} ${body.length}`);
      if (behind !== undefined) {
        const type = request.headers['content-type'];
        const init = { method: request.method!, body, headers: type === undefined ? {} : { 'Content-Type': type } };
        const answer = await wholeAnswer(new URL(path, behind), init).catch(() => undefined);
        // As a proxy answers for a server that is gone, or goes while it answers.
        if (!answer) return response.writeHead(502).end();
        response.writeHead(answer.status, { 'Content-Type': answer.type });
        return response.end(answer.bytes);
      }
      if (site.state === 'down') return request.socket.destroy();
      if (site.state === 'slow') return undefined;
      response.writeHead(site.state === 'failing' ? 500 : 200, { 'Content-Type': 'application/json' });
      return response.end(JSON.stringify('the server'));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const site: PredictionServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state: 'up',
    got,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return site;
}

async function wholeAnswer(url: URL, init: RequestInit) {
  const answer = await fetch(url, init);
  const type = answer.headers.get('content-type') ?? 'application/json';
  return { status: answer.status, type, bytes: Buffer.from(await answer.arrayBuffer()) };
}
