import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
const body = 'Wo ist der Bahnhof?';
const response = await server.fetch(new Request('/predictions/languages', { method: 'POST', body }));
const scores = await response.json();
console.log(response.status, scores['German'] > 0.9); // 200 true
