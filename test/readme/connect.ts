import { connect } from 'tabserve';

const classifier = connect({ model: '/models/digits/', handler: 'image_classifier', config: { handler: { topK: 2 } } });
await classifier.initialize({ onProgress: ({ overall }) => console.debug(overall.loaded, overall.total) });

const [best] = await classifier.predict(document.querySelector('img')!);
console.log(best?.label); // three
await classifier.dispose(); // at any time, also while it is loading
