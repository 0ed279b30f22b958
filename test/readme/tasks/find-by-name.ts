import { load } from 'tabserve';

const finder = await load('https://huggingface.co/Xenova/owlvit-base-patch32', {
  handler: 'zero_shot_object_detector',
});
const photo = document.querySelector('img')!;
const params = { labels: ['a cat', 'a remote control'], scoreThreshold: 0.2 };
const found = await finder.predict(photo, { params });
for (const { label, score, box } of found) console.log(label, score, box.xmin, box.ymin, box.xmax, box.ymax);
console.log(found.length, 'found');
