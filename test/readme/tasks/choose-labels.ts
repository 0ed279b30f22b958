import { load } from 'tabserve';

const chooser = await load('https://huggingface.co/Xenova/clip-vit-base-patch32', {
  handler: 'zero_shot_image_classifier',
});
const photo = document.querySelector('img')!;
const [best] = await chooser.predict(photo, { params: { labels: ['a cat', 'a dog'] } });
console.log(best?.label, best?.score);
