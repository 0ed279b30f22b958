import { load, TabServeError } from 'tabserve';

const classifier = await load('/models/digits/', { handler: 'image_classifier' });
const photo = document.querySelector('img')!;

const [digit, broken] = await classifier.handle([photo, new Blob(['not an image'])]);
console.log(digit instanceof Error); // false
console.log(broken instanceof TabServeError && `${broken.code} in ${broken.stage}`); // image-decode in preprocess

try {
  await classifier.predict(photo, { signal: AbortSignal.abort() });
} catch (error) {
  if (!(error instanceof TabServeError)) throw error;
  console.log(error.code, error.retriable); // aborted false
}
