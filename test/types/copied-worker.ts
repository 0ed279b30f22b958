import { connect, type ImageClassifier } from 'tabserve';

const classifier = connect<ImageClassifier>(() => new Worker('/tabserve/worker.js', { type: 'module' }), {
  model: '/models/digits/',
});
await classifier.initialize();
console.log(await classifier.predict(document.querySelector('img')!)); // [{ label: 'three', score: 0.97 }, …]
await classifier.dispose();
