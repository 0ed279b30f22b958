import { copies } from '../page/copy.js';
import { el } from '../page/dom.js';

/** The tokens that are colored. */
const TOKENS =
  /(?<comment>\/\/.*)|(?<string>'[^']*')|(?<keyword>\b(?:import|from|const|await|while|for|of|else|try|catch|if|throw)\b)/g;

export interface Snippet {
  show(source: string): void;
}

export interface CodePanel extends Snippet {
  readonly element: HTMLElement;
}

/** Creates the code's section of a page. */
export function codePanel(): CodePanel {
  const code = el('code', { id: 'snippet' });
  const copy = el('button', { type: 'button', class: 'small' }, 'Copy');
  const { show } = snippet(code, copy);
  const element = el(
    'section',
    { class: 'code', 'aria-labelledby': 'code-heading' },
    el('div', { class: 'code-head' }, el('h2', { id: 'code-heading' }, 'Code'), copy),
    el('pre', { tabindex: '0', 'aria-labelledby': 'code-heading' }, code),
  );
  return { element, show };
}

/** Shows code with colors, and copies it. */
export function snippet(code: HTMLElement, copy: HTMLButtonElement): Snippet {
  let current = '';
  copies(copy, () => current);
  return {
    show(source) {
      if (source === current) return;
      current = source;
      code.replaceChildren(...colored(source));
    },
  };
}

function* colored(source: string): Generator<Node | string> {
  let end = 0;
  for (const match of source.matchAll(TOKENS)) {
    const [kind, text] = Object.entries(match.groups ?? {}).find(([, group]) => group !== undefined)!;
    yield source.slice(end, match.index);
    yield el('span', { class: `code-${kind}` }, text);
    end = match.index + text.length;
  }
  yield source.slice(end);
}
