import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
await server.scale('languages', { minWorkers: 2, maxWorkers: 2 });
const { config } = await server.describe('languages');
console.log(config.minWorkers); // 2
