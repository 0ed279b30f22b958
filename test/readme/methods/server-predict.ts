import { load, type TextClassifier } from 'tabserve';
import { ModelServer } from 'tabserve/serving';

const server = new ModelServer({ load });
await server.register('/models/languages/', { name: 'languages', version: '1.0' });
const [best] = await server.predict<TextClassifier>('languages', 'Wo ist der Bahnhof?', { version: '1.0' });
console.log(best?.label); // German
