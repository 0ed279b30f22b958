import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { documentFiles } from '../vite/documents.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export interface SitePage {
  /** The page's address without its ending, e.g. `tasks/depth`. */
  readonly path: string;
  /** The file, from the repository's root. */
  readonly file: string;
  readonly title: string;
  /** A part of the sidebar and a section of it, e.g. `Tasks · Pictures`. Pages outside the parts have others. */
  readonly group: string;
}

/** Returns the pages of the site: those of the gallery's reader, at their own addresses. */
export function sitePages(): readonly SitePage[] {
  return documentFiles().map(({ id, file, title, group }) =>
    file === 'README.md'
      ? { path: 'overview', file, title: 'Overview', group: 'Start' }
      : { path: id.replace(/^docs\//, ''), file, title, group },
  );
}

/** Writes the pages to a folder for VitePress, with the repository's files that they link. */
export function writePages(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
  const pages = sitePages();
  for (const page of pages) write(join(folder, `${page.path}.md`), pageText(page, pages, folder));
  cpSync(join(ROOT, 'scripts/site/index.md'), join(folder, 'index.md'));
  for (const image of ['docs/gallery-dark.webp', 'docs/gallery-light.webp', 'demo/favicon.svg'])
    cpSync(join(ROOT, image), join(folder, 'public', image.slice(image.indexOf('/'))));
}

function pageText(page: SitePage, pages: readonly SitePage[], folder: string): string {
  const source = readFileSync(join(ROOT, page.file), 'utf8');
  // The site has the README's index as its sidebar, and its picture on the first page.
  const shown =
    page.file === 'README.md' ? source.replace(/<picture>[^]*?<\/picture>\n+|## Documentation[^]*$/g, '') : source;
  return outsideCode(shown, (text) =>
    text
      .replace(/<!-- demo: (\S+) -->/g, '<Demo page="$1" />')
      .replace(/<!-- .*? -->\n*/g, '')
      .replace(/(?<=\]\()(?!https?:|#)[^)\s]+(?=\))/g, (link) => linkFrom(link, page, pages, folder)),
  );
}

/** Returns a link as the site has it: to a page, or to a copy of a file of the repository. */
function linkFrom(link: string, page: SitePage, pages: readonly SitePage[], folder: string): string {
  const [path = '', anchor] = link.split('#');
  const file = normalize(join(dirname(page.file), path)).replace(/\/$/, '');
  const to = pages.find((one) => one.file === file) ?? (isFolder(file) ? nearestReadme(file, pages) : undefined);
  // A server shows a `.txt`; it may offer a script or a Markdown file to be saved.
  const target = to ? `${to.path}.md` : `repository/${file}${/\.(json|webp)$/.test(file) ? '' : '.txt'}`;
  if (!to) {
    if (!existsSync(join(ROOT, file)) || isFolder(file))
      throw new Error(`${page.file} links ${link}, which the site cannot show.`);
    cpSync(join(ROOT, file), join(folder, 'public', target));
  }
  const address = relative(dirname(page.path), target);
  return `${address.startsWith('.') ? address : `./${address}`}${anchor ? `#${anchor}` : ''}`;
}

/** Returns the page of a folder's README, or of the next one above it. */
function nearestReadme(folder: string, pages: readonly SitePage[]): SitePage | undefined {
  if (folder === '.') return undefined;
  return pages.find(({ file }) => file === `${folder}/README.md`) ?? nearestReadme(dirname(folder), pages);
}

/** Returns a page's Markdown for readers without scripts: its demos are links. */
export function plainMarkdown(text: string, path: string): string {
  const gallery = relative(dirname(path), 'gallery/');
  return text.replace(/<Demo page="(\S+)" \/>/g, `[Try it in the gallery](${gallery}/#/$1)`);
}

/** Applies a function to all that is outside blocks of code. */
function outsideCode(text: string, change: (part: string) => string): string {
  return text
    .split(/(^ *```[^]*?^ *```$)/m)
    .map((part, index) => (index % 2 === 0 ? change(part) : part))
    .join('');
}

function isFolder(path: string): boolean {
  return existsSync(join(ROOT, path)) && statSync(join(ROOT, path)).isDirectory();
}

function write(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
