import { readFile } from 'node:fs/promises';
import { load } from 'tabserve/node';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('./models/digits/', { name: 'digits' });

const body = await readFile('./models/digits/samples/digit-4.png');
const request = new Request('http://localhost/predictions/digits', { method: 'POST', body });
const response = await server.fetch(request);
console.log(response.status, Object.keys(await response.json())[0]); // 200 four
await server.dispose();
