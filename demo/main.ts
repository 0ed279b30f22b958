/** The gallery's shell: shows the page that the address names. */
import type { Exhibit, Exhibited } from './exhibit.js';
import { announcer } from './page/announce.js';
import { button, byId, el } from './page/dom.js';
import { takeFiles } from './page/drop.js';
import { address, route, tellSettings } from './page/route.js';
import { PAGES, type Page } from './pages.js';

const announce = announcer(byId('live'));
const main = byId('page');
let shown: Page | undefined;
let exhibited: Exhibited | undefined;

async function show(): Promise<void> {
  const page = PAGES.find(({ id }) => id === route().page) ?? PAGES[0];
  if (page === shown && tellSettings()) return;
  const isFirst = shown === undefined;
  shown = page;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#demos a')) {
    if (link.hash === address(page.id)) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  try {
    const exhibit = await page.open();
    if (page === shown) mount(exhibit);
  } catch (error) {
    if (page === shown) failed(page, error);
  }
  if (page !== shown || isFirst) return;
  window.scrollTo(0, 0);
  byId('title').focus({ preventScroll: true });
}

function mount({ title, summary, mount }: Exhibit): void {
  head(title, summary ?? '');
  exhibited = mount(announce);
  main.replaceChildren(exhibited.element);
}

/** Says that a page's code could not be downloaded: the network is off, or the site has changed since it was opened. */
function failed({ title }: Page, error: unknown): void {
  console.error(error);
  const text = 'This page could not be loaded. Check the connection, and reload.';
  head(title, text);
  main.replaceChildren(
    el(
      'div',
      { class: 'actions' },
      button('Reload', () => location.reload()),
    ),
  );
  announce(text);
}

function head(title: string, summary: string): void {
  exhibited?.dispose();
  exhibited = undefined;
  document.title = `${title} · TabServe`;
  byId('title').textContent = title;
  byId('summary').textContent = summary;
}

takeFiles(main, () => exhibited?.files);
byId('demos').append(...PAGES.map(({ id, title }) => el('li', {}, el('a', { href: address(id) }, title))));
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('title').focus();
});
window.addEventListener('hashchange', () => void show());
void show();
