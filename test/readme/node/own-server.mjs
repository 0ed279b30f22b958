import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { Readable } from 'node:stream';
import { connect, ThreadWorker } from 'tabserve/node';
import { ModelServer } from 'tabserve/serving';

const parity = connect(() => new ThreadWorker(new URL('./parity.worker.mjs', import.meta.url)), {
  model: './models/digits/',
});
await parity.initialize();
const models = new ModelServer();
await models.register(parity, { name: 'parity' });

const http = createServer(async (request, response) => {
  const { method, url, headers } = request;
  const body = method === 'GET' || method === 'HEAD' ? undefined : Readable.toWeb(request);
  const address = new URL(url, 'http://localhost');
  const answer = await models.fetch(new Request(address, { method, headers, body, duplex: 'half' }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers));
  for await (const part of answer.body ?? []) response.write(part);
  response.end();
});
await new Promise((listening) => http.listen(0, '127.0.0.1', listening)); // 0 is any free port

const photo = await readFile('./models/digits/samples/digit-9.png');
const origin = `http://127.0.0.1:${http.address().port}`;
const answer = await fetch(`${origin}/predictions/parity`, { method: 'POST', body: photo });
console.log(answer.status, await answer.text()); // 200 odd

http.close();
await models.dispose();
await parity.dispose();
