import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
await server.register('/models/languages/', { name: 'languages', version: '2.0' });
const shadow = server.shadow('languages', '2.0', { share: 0.5 });
for (let i = 0; i < 4; i++) await server.predict('languages', 'Wo ist der Bahnhof?');
const { requests, disagreed } = shadow.report();
console.log(requests, disagreed); // 4 0
shadow.stop();
