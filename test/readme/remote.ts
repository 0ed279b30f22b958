import { load } from 'tabserve';

const classifier = await load('/models/digits/', {
  handler: 'image_classifier',
  backends: ['remote', 'wasm'], // the server first; the tab when the server is gone
  remote: { url: 'https://models.example.org/', headers: { Authorization: 'Bearer secret' }, timeout: 5000 },
});
const [best] = await classifier.predict(document.querySelector('img')!);
const { name, proof } = classifier.backend!;
console.log(`${best!.label} on ${name}, proven by ${proof}`); // three on remote, proven by golden
