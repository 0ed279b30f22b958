import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
localStorage.setItem('models', JSON.stringify(server.snapshot()));
console.log(server.snapshot()[0]?.model.endsWith('/models/languages/')); // true
