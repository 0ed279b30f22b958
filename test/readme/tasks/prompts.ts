import { load } from 'tabserve';

const model = await load('https://huggingface.co/onnx-community/Florence-2-base-ft', {
  handler: 'prompted_image_to_text',
});
const image = document.querySelector('img')!;
const { text } = await model.predict({ image, prompt: '<DETAILED_CAPTION>' });
console.log(text);
const { regions = [] } = await model.predict({ image, prompt: '<CAPTION_TO_PHRASE_GROUNDING>a cat on a sofa' });
for (const { label, box } of regions) console.log(label, box?.xmin, box?.ymin, box?.xmax, box?.ymax);
const box = [20, 20, 120, 100] as const; // in pixels of the image
console.log((await model.predict({ image, prompt: '<REGION_TO_DESCRIPTION>', box })).text);
