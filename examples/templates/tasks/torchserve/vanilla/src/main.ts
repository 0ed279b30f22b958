import { connect } from 'tabserve';
import type { DigitReader } from './digit-reader.worker.ts';
import { asJson, makeWorker, options, readSample, SAMPLES } from './model.ts';
import { open, say } from './status.ts';

const input = document.querySelector('input')!;
const photos = document.querySelector('.photos')!;
const output = document.querySelector('pre')!;

const reader = connect<DigitReader>(makeWorker, options);

/** Answers a batch as TorchServe's handlers do: a list in, a list out. */
async function handle(files: readonly Blob[]): Promise<void> {
  photos.replaceChildren(...files.map((file) => picture(URL.createObjectURL(file))));
  output.hidden = true;
  try {
    output.textContent = asJson(await reader.handle(files));
    output.hidden = false;
  } catch (error) {
    say(error as Error);
  }
}

function picture(url: string): HTMLElement {
  const image = Object.assign(new Image(72, 72), { src: url, alt: 'A chosen photo' });
  image.addEventListener('load', () => URL.revokeObjectURL(url));
  return image;
}

input.addEventListener('change', () => {
  if (input.files?.length) handle([...input.files]);
});
for (const url of SAMPLES) {
  const button = Object.assign(document.createElement('button'), { className: 'plain sample' });
  button.append(Object.assign(new Image(40, 40), { src: url, alt: 'A sample' }));
  button.addEventListener('click', async () => handle([await readSample(url)]));
  document.querySelector('.samples')!.append(button);
}
open(reader);
