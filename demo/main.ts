/** The gallery's shell: shows the page that the address names. */
import type { Exhibit, Exhibited } from './exhibit.js';
import { announcer } from './page/announce.js';
import { button, byId, el } from './page/dom.js';
import { takeFiles } from './page/drop.js';
import { address, route, tellSettings } from './page/route.js';
import { GROUPS, HOME, pageOf, type Page } from './pages.js';

const announce = announcer(byId('live'));
const main = byId('page');
/** Milliseconds after which a page that is not there yet says that it is being loaded. */
const AT_ONCE = 100;

/** The visitor's latest visit to a page. An earlier one whose code arrives late, or never, shows nothing any more. */
let visit: { readonly page: Page } | undefined;
let exhibited: Exhibited | undefined;

async function show(): Promise<void> {
  const page = pageOf(route().page) ?? HOME;
  if (page.id === visit?.page.id && tellSettings()) return;
  const isFirst = visit === undefined;
  main.toggleAttribute('data-moved', !isFirst);
  const here = { page };
  visit = here;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#demos a')) {
    const { page: to } = route(link.hash);
    if (to === page.id) link.setAttribute('aria-current', 'page');
    else if (page.id.startsWith(`${to}/`)) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
    if (link.hasAttribute('aria-current')) link.scrollIntoView({ block: 'nearest', inline: 'center' });
  }
  main.setAttribute('aria-busy', 'true');
  const slow = setTimeout(() => here === visit && loading(page), AT_ONCE);
  try {
    const exhibit = await page.open();
    if (here === visit) mount(exhibit);
    if (page !== HOME) keepOffline();
  } catch (error) {
    if (here === visit) failed(page, error);
  }
  clearTimeout(slow);
  if (here !== visit) return;
  main.removeAttribute('aria-busy');
  if (isFirst) return;
  window.scrollTo(0, 0);
  heading()?.focus({ preventScroll: true });
}

/** Says that a page's code is being downloaded. */
function loading({ title }: Page): void {
  leave(title);
  main.replaceChildren(intro(title, 'Loading the page…'));
}

function mount({ title, summary, mount }: Exhibit): void {
  leave(title);
  exhibited = mount(announce);
  main.replaceChildren(...(summary === undefined ? [] : [intro(title, summary)]), exhibited.element);
  // Focus goes there after navigation, and from the link at the top.
  heading()?.setAttribute('tabindex', '-1');
}

/** Says that a page's code could not be downloaded: the network is off, or the site has changed since it was opened. */
function failed({ title }: Page, error: unknown): void {
  console.error(error);
  const text = 'This page could not be loaded. Check the connection, and reload.';
  leave(title);
  const reload = button('Reload', () => location.reload());
  main.replaceChildren(intro(title, text), el('div', { class: 'actions' }, reload));
  announce(text);
}

/**
 * Has a service worker keep the gallery for visits without a network. It downloads all pages, so it waits until a
 * visitor opens one.
 */
function keepOffline(): void {
  if (!import.meta.env.PROD || !navigator.serviceWorker || navigator.serviceWorker.controller) return;
  navigator.serviceWorker.register('sw.js').catch((error: unknown) => console.warn(error));
}

function leave(title: string): void {
  exhibited?.dispose();
  exhibited = undefined;
  document.title = `${title} · TabServe`;
}

function intro(title: string, summary: string): HTMLElement {
  return el('div', { class: 'intro' }, el('h1', {}, title), el('p', {}, summary));
}

function heading(): HTMLElement | null {
  return main.querySelector('h1');
}

takeFiles(main, () => exhibited?.files);
/** Returns a link to a page, for the navigation; the first of a group is after the group's title. */
function link({ id, title }: { readonly id: string; readonly title: string }, group?: string): HTMLElement {
  const heading = group === undefined ? [] : [el('span', { class: 'group', 'aria-hidden': 'true' }, group)];
  return el('li', {}, ...heading, el('a', { href: address(id) }, title));
}

byId('demos').append(
  ...GROUPS.map(({ title, pages }) =>
    el(
      'li',
      {},
      el('ul', { 'aria-label': title }, ...pages.map((page, at) => link(page, at === 0 ? title : undefined))),
    ),
  ),
  link({ id: 'docs', title: 'Docs' }),
);
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  heading()?.focus();
});
window.addEventListener('hashchange', () => void show());
void show();
