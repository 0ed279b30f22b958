import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
console.log(server.list()); // [{ name: 'languages', defaultVersion: '1.0', versions: ['1.0'] }]
