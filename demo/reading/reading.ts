/**
 * The pages to read: the documentation, and the card of each model. Their HTML is made of the repository's Markdown
 * when the gallery is built.
 */
import '../styles/reading.css';
import documents from 'virtual:documents';
import type { Exhibit, Exhibited } from '../exhibit.js';
import { el } from '../page/dom.js';
import { address, onSettings, route } from '../page/route.js';

/** Returns the page with this id; one that says so, if there is no such document. */
export async function reading(id: string): Promise<Exhibit> {
  const one = documents.find((each) => each.id === id);
  const title = one?.title ?? 'No such document';
  const text = el('div', { class: 'prose' });
  if (one) text.innerHTML = await one.load();
  else
    text.append(
      el(
        'p',
        {},
        `There is no document “${id}”. See the `,
        el('a', { href: address('docs') }, 'list of documents'),
        '.',
      ),
    );
  return { id, title, mount: () => mount(id, title, text) };
}

function mount(id: string, title: string, text: HTMLElement): Exhibited {
  const list = contents(id);
  const element = el('div', { class: 'reading' }, list, el('article', {}, el('h1', {}, title), text));
  const go = (): void => {
    const { at } = route().settings;
    if (at !== undefined) element.querySelector(`#${CSS.escape(at)}`)?.scrollIntoView();
  };
  // Once the page stands, and the shell has scrolled to its top.
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const current = list.querySelector<HTMLElement>('[aria-current]');
      if (current) list.scrollTop = current.offsetTop - list.clientHeight / 2;
      go();
    }),
  );
  return { element, dispose: onSettings(go) };
}

/** Lists all pages, in groups. On a narrow screen it is folded. */
function contents(id: string): HTMLElement {
  const link = (one: (typeof documents)[number]): HTMLElement =>
    el(
      'li',
      {},
      el(
        'a',
        { href: address(one.id), ...(one.id === id && { 'aria-current': 'page' }) },
        one.id.startsWith('models/') ? one.id.slice('models/'.length) : one.title,
      ),
    );
  const lists = [...new Set(documents.map(({ group }) => group))].map((group) =>
    el(
      'div',
      {},
      ...(group === '' ? [] : [el('h2', {}, group)]),
      el('ul', {}, ...documents.filter((one) => one.group === group).map(link)),
    ),
  );
  const isWide = matchMedia('(min-width: 60rem)').matches;
  return el(
    'details',
    { class: 'contents', ...(isWide && { open: '' }) },
    el('summary', {}, 'All documents'),
    el('nav', { 'aria-label': 'Documents' }, ...lists),
  );
}
