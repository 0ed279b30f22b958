import { load } from 'tabserve';

const reader = await load('/models/ocr/', { handler: 'text_reader' });
const photo = await (await fetch('/photo.jpg')).blob();
for await (const part of reader.stream(photo)) {
  if (!('text' in part)) console.log(part.map(({ text }) => text).join('\n')); // the last item: all lines, in reading order
  else console.log(part.text, part.box); // 'Platform 9', [[121, 181], [517, 155], [521, 224], [125, 250]]
}
await reader.dispose();
