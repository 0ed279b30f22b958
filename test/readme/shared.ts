import { load } from 'tabserve';

const digits = await load('/models/digits/', { handler: 'image_classifier', share: true });
const [best] = await digits.predict(new URL('/models/digits/samples/digit-4.png', document.baseURI));
console.log(best);

const { sharing, metrics } = await digits.describe();
console.log(sharing); // { role: 'host', clients: 1 }, and { role: 'guest', clients: 2 } in the next tab
console.log(metrics.counters['ts_inference_requests_total']); // of all tabs
