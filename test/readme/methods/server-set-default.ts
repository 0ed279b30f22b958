import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
await server.register('/models/languages/', { name: 'languages', version: '2.0' });
server.setDefault('languages', '2.0');
console.log(server.list()[0]?.defaultVersion); // 2.0
