import { load } from 'tabserve';
import { hostModels, whenControlled } from 'tabserve/service-worker';
import { ModelServer } from 'tabserve/serving';

await navigator.serviceWorker.register('/sw.js', { type: 'module' });
await whenControlled(); // before the first request that must not reach a server

const server = new ModelServer();
await server.register(await load('/models/digits/'), { name: 'digits' });
await hostModels(server).ready;

// Anywhere in the app, on any of its pages, in code that knows only fetch:
const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
const response = await fetch('/predictions/digits', { method: 'POST', body: photo });
console.log(await response.json()); // { three: 0.98…, … }: what TorchServe answers
console.log(response.headers.get('TabServe-Answered-By')); // device
