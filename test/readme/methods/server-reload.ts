import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
const { loadedAt } = await server.describe('languages');
await server.reload('languages');
console.log((await server.describe('languages')).loadedAt > loadedAt); // true
