import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
const { handler, isDefault, activeRequests } = await server.describe('languages', '1.0');
console.log(handler, isDefault, activeRequests); // text_classifier true 0
