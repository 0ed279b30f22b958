import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
const options = { name: 'digits', handler: 'image_classifier' } as const;
await server.register('/models/digits/', { ...options, version: '1.0' }); // the first version is the default
await server.register('/models/digits/', { ...options, version: '2.0', batchSize: 4 });

const shadow = server.shadow('digits', '2.0'); // runs on what 1.0 has answered, in idle time
const photo = await (await fetch('/models/digits/samples/drawn-3.png')).blob();
await server.predict('digits', photo);
while (shadow.report().compared === 0) await new Promise((resolve) => setTimeout(resolve, 100));
const { compared, disagreed, largestDifference } = shadow.report();
console.log(compared, disagreed, largestDifference); // 1 0 0

server.setDefault('digits', '2.0'); // from here on, requests go to 2.0
await server.unregister('digits', '1.0'); // when 1.0 has answered what it has
console.log(server.list()); // [{ name: 'digits', defaultVersion: '2.0', versions: ['2.0'] }]
await server.dispose();
