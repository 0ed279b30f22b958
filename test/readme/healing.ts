import { load } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier', responseTimeout: 30, maxRuns: 10_000 });
classifier.on('recover', ({ backend, cause, took }) =>
  console.info(`${cause.code}: on ${backend.name} again after ${took} ms`),
);
classifier.on('fail', ({ message }) => console.error(message)); // for good: everything that was tried

const photo = document.querySelector('img')!;
console.log(await classifier.predict(photo, { timeout: 5000, signal: AbortSignal.timeout(10_000) }));
