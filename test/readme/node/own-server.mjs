import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { connect, nodeListener, ThreadWorker } from 'tabserve/node';
import { ModelServer } from 'tabserve/serving';

const parity = connect(() => new ThreadWorker(new URL('./parity.worker.mjs', import.meta.url)), {
  model: './models/digits/',
});
await parity.initialize();
const models = new ModelServer();
await models.register(parity, { name: 'parity' });

const http = createServer(nodeListener(models));
await new Promise((listening) => http.listen(0, '127.0.0.1', listening)); // 0 is any free port

const photo = await readFile('./models/digits/samples/digit-9.png');
const origin = `http://127.0.0.1:${http.address().port}`;
const answer = await fetch(`${origin}/predictions/parity`, { method: 'POST', body: photo });
console.log(answer.status, await answer.text()); // 200 odd

http.close();
await models.dispose();
await parity.dispose();
