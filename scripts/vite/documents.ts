import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import type { Plugin } from 'vite';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIST = 'virtual:documents';
const ONE = 'virtual:document/';
/** The group of what the README's index does not list. */
const REPOSITORY = 'In the repository';

export interface DocumentFile {
  /** The page in the gallery's address, e.g. `docs/healing` or `models/selfie`. */
  readonly id: string;
  /** The file, from the repository's root. */
  readonly file: string;
  /** Its first heading. */
  readonly title: string;
  /** The heading under which it is listed: that of the README's index. */
  readonly group: string;
}

/** Returns the pages that the gallery shows: the documentation, and the card of each of its models. */
export function documentFiles(): readonly DocumentFile[] {
  const docs = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .flatMap((name) => /^(?!decisions\/)(.+)\.md$/.exec(name)?.[1] ?? [])
    .toSorted();
  // The README's index has them in the order in which a reader needs them.
  const index = text('README.md').split('## Documentation')[1] ?? '';
  const named = Array.from(index.matchAll(/^- \*\*(.+?)\*\*(.*)$/gm), ([, group, links]) =>
    Array.from(links!.matchAll(/\(docs\/([\w/-]+)\.md\)/g), ([, name]) => ({ name: name!, group: group! })),
  ).flat();
  // The pages of methods are in the order of their own index.
  const [, ...sections] = text('docs/methods.md').split(/^## /m);
  for (const section of sections) {
    const group = `Reference · ${section.split('\n')[0]!}`;
    const names = Array.from(section.matchAll(/\((methods\/[\w-]+)\.md\)/g), ([, name]) => name!);
    named.push(...names.map((name) => ({ name, group })));
  }
  const others = docs.filter((name) => !named.some((one) => one.name === name));
  const ordered = [...named, ...others.map((name) => ({ name, group: REPOSITORY }))];
  return [
    { id: 'docs', file: 'README.md', group: '' },
    ...ordered.map(({ name, group }) => ({ id: `docs/${name}`, file: `docs/${name}.md`, group })),
    { id: 'docs/architecture', file: 'ARCHITECTURE.md', group: REPOSITORY },
    { id: 'docs/benchmark', file: 'bench/README.md', group: REPOSITORY },
    { id: 'docs/changelog', file: 'CHANGELOG.md', group: REPOSITORY },
    { id: 'docs/examples', file: 'examples/README.md', group: REPOSITORY },
    { id: 'docs/templates', file: 'examples/templates/README.md', group: REPOSITORY },
    ...namesIn('public/models', /(.+)/).map((name) => ({
      id: `models/${name}`,
      file: `public/models/${name}/README.md`,
      group: 'Models',
    })),
  ]
    .filter(({ file }) => existsSync(join(ROOT, file)))
    .map((one) => ({ ...one, title: /^# (.+)$/m.exec(text(one.file))?.[1]?.replaceAll('`', '') ?? one.id }));
}

/**
 * Makes the documentation and the model cards into pages: `virtual:documents` lists them, each with its HTML in a chunk
 * of its own.
 */
export function documents(): Plugin {
  return {
    name: 'tabserve:documents',
    resolveId: (id) => (id === LIST || id.startsWith(ONE) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${LIST}`) {
        const entries = documentFiles().map(
          ({ id, title, group }) =>
            `{ id: ${JSON.stringify(id)}, title: ${JSON.stringify(title)}, group: ${JSON.stringify(group)}, load: async () => (await import('${ONE}${id}')).default }`,
        );
        return `export default [${entries.join(',\n')}];`;
      }
      if (!id.startsWith(`\0${ONE}`)) return undefined;
      const one = documentFiles().find((each) => `\0${ONE}${each.id}` === id)!;
      this.addWatchFile(join(ROOT, one.file));
      return `export default ${JSON.stringify(asHtml(text(one.file), one.file))};`;
    },
  };
}

/**
 * Returns a page's HTML without its first heading. Links to other pages lead to their place in the gallery; those to
 * other files of the repository are text.
 */
export function asHtml(markdown: string, file: string): string {
  const pages = documentFiles();
  const marked = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth, text }) {
        if (depth === 1) return '';
        return `<h${depth} id="${slug(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens);
        const to = target(href, file, pages);
        return to === undefined ? content : `<a href="${to}">${content}</a>`;
      },
      // Commands have long remarks.
      code: ({ text, lang }) =>
        `<pre tabindex="0"${lang === 'sh' ? ' class="wraps"' : ''}><code>${escaped(text)}</code></pre>\n`,
      table({ header, rows }) {
        const cell = (tag: string, { tokens }: Tokens.TableCell): string =>
          `<${tag}>${this.parser.parseInline(tokens)}</${tag.split(' ')[0]}>`;
        // A table without a header has its names in the first column.
        const head = header.some(({ text }) => text !== '')
          ? `<thead><tr>${header.map((one) => cell(one.text ? 'th scope="col"' : 'td', one)).join('')}</tr></thead>`
          : '';
        const body = rows.map(
          (row) =>
            `<tr>${row.map((one, column) => cell(column === 0 && one.text ? 'th scope="row"' : 'td', one)).join('')}</tr>`,
        );
        return `<div class="scrolls" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>${body.join('')}</tbody></table></div>\n`;
      },
      html: () => '',
    },
  });
  return marked.parse(markdown.replace(/^---\n[^]*?\n---\n/, ''), { async: false });
}

/** Returns the address of a link in the gallery, or undefined if it leads to a file that the gallery does not have. */
function target(href: string, file: string, pages: readonly DocumentFile[]): string | undefined {
  if (/^[a-z]+:/.test(href)) return escaped(href);
  const [path = '', anchor] = href.split('#');
  const to = path === '' ? file : normalize(join(dirname(file), path)).replace(/\/$/, '/README.md');
  const page = pages.find((one) => one.file === to);
  return page && `#/${page.id}${anchor ? `?at=${encodeURIComponent(anchor)}` : ''}`;
}

/** Returns a heading's id, as GitHub makes it. */
export function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

function text(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** Returns what the pattern finds in the names of a folder's files. */
function namesIn(folder: string, pattern: RegExp): readonly string[] {
  return readdirSync(join(ROOT, folder))
    .flatMap((name) => pattern.exec(name)?.[1] ?? [])
    .toSorted();
}
