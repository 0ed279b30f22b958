import { connect } from 'tabserve';
import { options, percent, readSample, SAMPLES } from './model.ts';
import { open, say } from './status.ts';

const input = document.querySelector('input')!;
const picture = document.querySelector<HTMLImageElement>('.photo')!;
const list = document.querySelector('ol')!;

const classifier = connect(options);

async function classify(photo: Blob): Promise<void> {
  URL.revokeObjectURL(picture.src);
  picture.src = URL.createObjectURL(photo);
  picture.hidden = false;
  list.replaceChildren();
  try {
    const answer = await classifier.predict(photo, { params: { topK: 3 } });
    list.replaceChildren(...answer.map(({ label, score }) => row(label, score)));
  } catch (error) {
    say(error as Error);
  }
}

function row(label: string, score: number): HTMLElement {
  const item = document.createElement('li');
  item.className = 'score';
  const meter = Object.assign(document.createElement('meter'), { value: score });
  const [name, value] = [label, percent(score)].map((text) =>
    Object.assign(document.createElement('span'), { textContent: text }),
  );
  item.append(name!, value!, meter);
  return item;
}

input.addEventListener('change', () => {
  if (input.files?.[0]) classify(input.files[0]);
});
for (const url of SAMPLES) {
  const button = Object.assign(document.createElement('button'), { className: 'plain sample' });
  button.append(Object.assign(new Image(40, 40), { src: url, alt: 'A sample' }));
  button.addEventListener('click', async () => classify(await readSample(url)));
  document.querySelector('.samples')!.append(button);
}
open(classifier);
