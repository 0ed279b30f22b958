import { load, type TabServeError } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
await server.dispose();
await server.predict('languages', 'Hello').catch((error: TabServeError) => console.log(error.code)); // disposed
