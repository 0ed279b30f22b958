import type { Client } from 'tabserve';

const line = document.querySelector<HTMLElement>('[role=status]')!;
const bar = document.querySelector('progress')!;

/** Shows a text below the app, or what went wrong. */
export function say(text: string | Error): void {
  line.textContent = text instanceof Error ? text.message : text;
  line.classList.toggle('error', text instanceof Error);
}

/** Loads the model, and shows how much of it has arrived. @throws what `initialize` throws, which it has shown */
export async function open(model: Client): Promise<void> {
  model.on('backendchange', ({ name }) => say(`Ready, on ${name}.`));
  say('Loading the model …');
  bar.hidden = false;
  try {
    await model.initialize({ onProgress: ({ overall }) => (bar.value = overall.fraction ?? 0) });
  } catch (error) {
    say(error as Error);
    throw error;
  } finally {
    bar.hidden = true;
  }
}
