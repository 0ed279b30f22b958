import type { Input, InputEvents } from '../demo.js';
import { button, el } from '../page/dom.js';

/** Creates a field for text, which is predicted at every change. White space alone is no text. */
export function textField({ changed, emptied }: InputEvents, invitation: string): Input {
  const field = el('textarea', {
    class: 'text',
    rows: '6',
    dir: 'auto',
    placeholder: invitation,
    'aria-label': invitation,
    autocomplete: 'off',
    spellcheck: 'false',
  });
  const clear = button('Clear', () => {
    field.value = '';
    typed();
    field.focus();
  });
  const told = (): void => {
    clear.disabled = field.value === '';
    if (field.value.trim() === '') emptied();
    else changed();
  };
  let given: Blob | undefined;
  const typed = (): void => {
    given = undefined;
    told();
  };
  clear.disabled = true;
  field.addEventListener('input', typed);

  return {
    element: field,
    actions: [clear],
    current: () => (field.value.trim() === '' ? undefined : field.value),
    given: () => given,
    async show(text) {
      field.value = await text.text();
      given = text;
      clear.disabled = field.value === '';
    },
    dispose: () => {},
  };
}
