/** The pages to read: the documentation, and the card of each model. Their HTML is made of the repository's Markdown when the gallery is built. */
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
  else text.append(el('p', {}, `There is no document “${id}”. See the `, el('a', { href: address('docs') }, 'list of documents'), '.')); // prettier-ignore
  return { id, title, mount: () => mount(id, title, text) };
}

function mount(id: string, title: string, text: HTMLElement): Exhibited {
  const element = el('div', { class: 'reading' }, contents(id), el('article', {}, el('h1', {}, title), text));
  const go = (): void => {
    const { at } = route().settings;
    if (at !== undefined) element.querySelector(`#${CSS.escape(at)}`)?.scrollIntoView();
  };
  // Once the page stands, and the shell has scrolled to its top.
  requestAnimationFrame(() => requestAnimationFrame(go));
  return { element, dispose: onSettings(go) };
}

/** Lists all pages. */
function contents(id: string): HTMLElement {
  const list = (title: string, folder: string): HTMLElement =>
    el(
      'div',
      {},
      el('h2', {}, title),
      el(
        'ul',
        {},
        ...documents
          .filter((one) => one.id.startsWith(folder))
          .map((one) =>
            el(
              'li',
              {},
              el(
                'a',
                { href: address(one.id), ...(one.id === id && { 'aria-current': 'page' }) },
                one.id.startsWith('models/') ? one.id.slice('models/'.length) : one.title,
              ),
            ),
          ),
      ),
    );
  return el('nav', { class: 'contents', 'aria-label': 'Documents' }, list('Docs', 'docs'), list('Models', 'models'));
}
