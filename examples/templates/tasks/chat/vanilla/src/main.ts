import { connect } from 'tabserve';
import { answer, options, type Message } from './model.ts';
import { open, say } from './status.ts';

const list = document.querySelector('ol')!;
const form = document.querySelector('form')!;
const input = document.querySelector('input')!;
const button = document.querySelector('button')!;

const model = connect(options);
let messages: Message[] = [];
let writing: AbortController | undefined;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  if (writing) return writing.abort();
  const { signal } = (writing = new AbortController());
  const asked: Message = { role: 'user', content: input.value };
  messages.push(asked);
  bubble(asked);
  form.reset();
  input.required = false; // while it writes, the button stops it
  button.textContent = 'Stop';
  const shown = bubble({ role: 'assistant', content: '' });
  const asking = messages;
  try {
    for await (const part of answer(model, asking, signal)) shown.textContent += part;
  } catch (error) {
    if (!signal.aborted) say(error as Error);
  } finally {
    asking.push({ role: 'assistant', content: shown.textContent ?? '' });
    writing = undefined;
    input.required = true;
    button.textContent = 'Send';
  }
});

document.querySelector('.clear')!.addEventListener('click', () => {
  writing?.abort();
  messages = [];
  list.replaceChildren();
});

function bubble({ role, content }: Message): HTMLElement {
  const item = document.createElement('li');
  Object.assign(item, { className: `message ${role}`, textContent: content });
  list.append(item);
  return item;
}

open(model);
