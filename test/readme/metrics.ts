import { load } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier' });
const photo = document.querySelector('img')!;
for (let i = 0; i < 20; i++) await classifier.predict(photo);

const { counters, histograms } = classifier.metrics.snapshot(); // plain data
console.log(counters.ts_inference_requests_total?.[0]); // { labels: { outcome: 'ok' }, unit: 'Count', value: 20 }
console.log(histograms.ts_handler_inference?.[0]); // { labels: {}, unit: 'ms', count: 20, sum: 31.4, p50: 1.5, p95: 1.9, p99: 2.6 }
console.log(classifier.metrics.prometheus()); // HandlerTime{ModelName="digits",Level="Model",quantile="0.95"} 3.2 …
