import { load, nearest, paintDepth, paintInstances, paintPicture } from 'tabserve';

const photo = document.querySelector('img')!;

const chooser = await load('https://huggingface.co/ORG/NAME', { handler: 'zero_shot_image_classifier' });
const [kind] = await chooser.predict(photo, { params: { labels: ['a cat', 'a dog'] } });
console.log(kind?.label, kind?.score);

const finder = await load('https://huggingface.co/ORG/NAME', { handler: 'zero_shot_object_detector' });
const found = await finder.predict(photo, { params: { labels: ['a cat', 'a remote control'] } });
for (const { label, box } of found) console.log(label, box.xmin, box.ymin, box.xmax, box.ymax);

const segmenter = await load('https://huggingface.co/ORG/NAME', { handler: 'instance_segmenter' });
const instances = await segmenter.predict(photo);
if (instances.length > 0) show(paintInstances(instances));

const depth = await load('https://huggingface.co/ORG/NAME', { handler: 'depth_estimator' });
show(paintDepth(await depth.predict(photo)));

const remover = await load('https://huggingface.co/ORG/NAME', { handler: 'background_remover' });
show(paintPicture(await remover.predict(photo)));

const writer = await load('https://huggingface.co/ORG/NAME', { handler: 'image_to_text' });
const { text } = await writer.predict(photo);
console.log(text);

const embedder = await load('https://huggingface.co/ORG/NAME', { handler: 'image_text_embedder' });
const photos = [await embedder.predict(photo)];
console.log(nearest(await embedder.predict('a cat on a sofa'), photos, 1));

function show(image: ImageData): void {
  const canvas = Object.assign(document.createElement('canvas'), { width: image.width, height: image.height });
  canvas.getContext('2d')!.putImageData(image, 0, 0);
  document.body.append(canvas);
}
