import { connect } from 'tabserve';
import { indexOf, type Found } from './index-of-texts.ts';
import { options } from './model.ts';
import { open, say } from './status.ts';
import { QUESTIONS, TEXTS } from './texts.ts';

const input = document.querySelector('input')!;
const list = document.querySelector('ol')!;

const model = connect(options);
const opened = open(model).then(async () => await indexOf(TEXTS, model));
opened.catch(say);
let latest = 0;

/** Shows what fits the question; the answer to a newer question takes its place. */
async function ask(): Promise<void> {
  const own = ++latest;
  if (input.value.trim() === '') return list.replaceChildren();
  try {
    const search = await opened;
    if (own !== latest) return;
    const found = await search(input.value);
    if (own === latest) list.replaceChildren(...found.map(row));
  } catch (error) {
    say(error as Error);
  }
}

function row({ text, score }: Found): HTMLElement {
  const item = Object.assign(document.createElement('li'), { className: 'score' });
  const [sentence, value] = [text, score.toFixed(2)].map((text) =>
    Object.assign(document.createElement('span'), { textContent: text }),
  );
  item.append(sentence!, value!, Object.assign(document.createElement('meter'), { value: score }));
  return item;
}

input.addEventListener('input', ask);
for (const question of QUESTIONS) {
  const button = Object.assign(document.createElement('button'), { className: 'plain', textContent: question });
  button.addEventListener('click', () => {
    input.value = question;
    ask();
  });
  document.querySelector('.questions')!.append(button);
}
