import { load, type TabServeError } from 'tabserve';

const classifier = await load('/models/languages/', {
  handler: 'text_classifier',
  batchSize: 8,
  jobQueueSize: 20,
  maxWorkers: 2,
});

const lines = [
  'Alle Menschen sind frei und gleich an Würde und Rechten geboren.',
  'Todos los seres humanos nacen libres e iguales en dignidad y derechos.',
];
const crowd = Array.from({ length: 40 }, (_, index) =>
  classifier.predict(lines[index % 2]!, { timeout: 10_000, priority: index % 2 }),
);
const settled = await Promise.allSettled(crowd);
const refused = settled.filter(
  (one) => one.status === 'rejected' && (one.reason as TabServeError).code === 'queue-full',
);
console.log(`${settled.length - refused.length} answered, ${refused.length} refused at once`); // 29 answered, 11 refused at once

const { rowsPerRun, workers, jobQueueStatus } = await classifier.describe();
console.log(rowsPerRun, workers, jobQueueStatus); // any 2 { remainingCapacity: 20, pendingRequests: 0 }
await classifier.dispose();
