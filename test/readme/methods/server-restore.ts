import { load } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
const stored = [
  { name: 'languages', version: '1.0', model: '/models/languages/', isDefault: true, options: {} },
  { name: 'lost', version: '1.0', model: '/models/lost/', isDefault: true, options: {} },
];
for (const { location, error } of await server.restore(stored)) console.log(location.name, error.code); // lost model-not-found
