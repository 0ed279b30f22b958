import { assess } from 'tabserve';

const { handler, backends, skipped, device } = await assess('/models/digits/');
console.log(`${handler.name}: ${handler.reason}`); // image_classifier: The archive's manifest names it.
const [first, ...others] = backends;
if (!first) throw new Error(skipped.map(({ name, reason }) => `not ${name}: ${reason}`).join('\n'));
console.log(`${first.bytes} bytes, ${Math.round(first.memory! / 1e6)} MB of memory on ${first.name}`, first.concerns);
console.log('otherwise', others, 'not', skipped, 'because this device has', device);
