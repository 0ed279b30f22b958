import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HeaderProxy extends AsyncDisposable {
  readonly origin: string;
}

/**
 * Serves what another server does, with other headers: such as a policy for a page and its workers. `undefined` removes
 * a header.
 */
export async function serveWithHeaders(
  origin: string,
  headers: Readonly<Record<string, string | undefined>>,
): Promise<HeaderProxy> {
  const server = createServer((request, response) => {
    void (async () => {
      const answer = await fetch(new URL(request.url!, origin));
      const own = Object.fromEntries(
        [...answer.headers].filter(([name]) => !['connection', 'keep-alive', 'transfer-encoding'].includes(name)),
      );
      const all = Object.entries({ ...own, ...headers }).filter(([, value]) => value !== undefined);
      response.writeHead(answer.status, Object.fromEntries(all) as Record<string, string>);
      response.end(Buffer.from(await answer.arrayBuffer()));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
