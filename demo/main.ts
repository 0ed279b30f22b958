/** The gallery: shows the page that the address names. */
import { demoPage } from './demo-page.js';
import { DEMOS } from './demos/index.js';
import type { Exhibit, Exhibited } from './exhibit.js';
import { lab } from './lab/lab.js';
import { announcer } from './page/announce.js';
import { byId, el } from './page/dom.js';
import { takeFiles } from './page/drop.js';
import { serving } from './serving/serving.js';

const PAGES: readonly Exhibit[] = [...DEMOS.map(demoPage), lab, serving];
const announce = announcer(byId('live'));
let exhibited: Exhibited | undefined;

function show(page: Exhibit): void {
  exhibited?.dispose();
  exhibited = page.mount(announce);
  byId('page').replaceChildren(exhibited.element);

  const { id, title, summary } = page;
  document.title = `${title} · TabServe`;
  for (const link of document.querySelectorAll<HTMLAnchorElement>('#demos a')) {
    if (link.hash === `#/${id}`) link.setAttribute('aria-current', 'page');
    else link.removeAttribute('aria-current');
  }
  byId('title').textContent = title;
  byId('summary').textContent = summary;
}

function route(): void {
  const id = location.hash.slice('#/'.length);
  show(PAGES.find((one) => one.id === id) ?? PAGES[0]!);
}

takeFiles({
  zone: byId('page'),
  accepts: () => exhibited?.files?.take !== undefined,
  take: (file) => exhibited?.files?.take?.(file),
  refuse: (error) => exhibited?.files?.refused(error),
});
byId('demos').append(...PAGES.map(({ id, title }) => el('li', {}, el('a', { href: `#/${id}` }, title))));
byId('skip').addEventListener('click', (event) => {
  event.preventDefault();
  byId('title').focus();
});
window.addEventListener('hashchange', route);
route();
