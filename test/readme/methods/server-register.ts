import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
const own = await load('/models/digits/', { handler: 'image_classifier' });
console.log(await server.register(own)); // { name: 'digits', version: '1.0' }
