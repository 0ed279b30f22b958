import { connect } from 'tabserve';
import { clock, options, readSample, record } from './model.ts';
import { open, say } from './status.ts';

const button = document.querySelector<HTMLButtonElement>('.record')!;
const input = document.querySelector('input')!;
const player = document.querySelector('audio')!;
const text = document.querySelector<HTMLElement>('.text')!;
const parts = document.querySelector('.parts')!;

const model = connect(options);
let recording: AbortController | undefined;
let latest = 0;

/** Shows the words as they come, and then each part with its time. A newer recording takes the place of an older one. */
async function transcribe(sound: Blob): Promise<void> {
  const own = ++latest;
  URL.revokeObjectURL(player.src);
  player.src = URL.createObjectURL(sound);
  player.hidden = false;
  parts.replaceChildren();
  text.textContent = '…';
  text.hidden = false;
  let heard = '';
  try {
    for await (const part of model.stream(sound, { params: { timestamps: 'segment' } })) {
      if (own !== latest) return;
      if (typeof part === 'string') text.textContent = heard += part;
      else parts.append(...(part.parts ?? []).map(({ start, text }) => row(start, text)));
    }
    if (parts.children.length === 0) parts.append(row(0, 'Nothing was said.'));
  } catch (error) {
    say(error as Error);
  } finally {
    if (own === latest) text.hidden = true;
  }
}

function row(start: number, text: string): HTMLElement {
  const item = document.createElement('li');
  const time = Object.assign(document.createElement('button'), { className: 'plain time', textContent: clock(start) });
  time.addEventListener('click', () => {
    player.currentTime = start;
    player.play();
  });
  item.append(time, ` ${text.trim()}`);
  return item;
}

button.addEventListener('click', async () => {
  if (recording) return recording.abort();
  recording = new AbortController();
  button.textContent = 'Stop';
  try {
    const sound = await record(recording.signal);
    void transcribe(sound);
  } catch (error) {
    say(error as Error);
  } finally {
    recording = undefined;
    button.textContent = 'Record';
  }
});
input.addEventListener('change', () => {
  if (input.files?.[0]) transcribe(input.files[0]);
});
document.querySelector('.sample-sound')!.addEventListener('click', async () => {
  await transcribe(await readSample());
});
open(model);
