import { PARTS } from './sidebar.ts';
import type { SitePage } from './pages.ts';

/** Returns `llms.txt`: the pages of the sidebar, each with its first sentence. */
export function llmsIndex(pages: readonly SitePage[], textOf: (path: string) => string): string {
  const parts = PARTS.map((part) => {
    const lines = inPart(part, pages).map(({ path, title }) => {
      const about = firstSentence(textOf(path));
      return `- [${title}](${path}.md)${about ? `: ${about}` : ''}`;
    });
    return `## ${part}\n\n${lines.join('\n')}\n`;
  });
  return `# TabServe\n\n> ${firstSentence(textOf('overview'))}\n\nAll pages in one file: [llms-full.txt](llms-full.txt)\n\n${parts.join('\n')}`;
}

/** Returns `llms-full.txt`: the text of those pages, in the same order. */
export function llmsText(pages: readonly SitePage[], textOf: (path: string) => string): string {
  return PARTS.flatMap((part) => inPart(part, pages))
    .map(({ path }) => `<!-- ${path}.md -->\n\n${textOf(path).trim()}\n`)
    .join('\n');
}

function inPart(part: string, pages: readonly SitePage[]): readonly SitePage[] {
  return pages.filter(({ group }) => group.split(' · ')[0] === part);
}

/** Returns the first sentence of a page's first paragraph, without links and emphasis. */
function firstSentence(text: string): string {
  const paragraph = text.split('\n\n').find((block) => /^[*`\w]/.test(block)) ?? '';
  const plain = paragraph
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll('\n', ' ');
  return /^.*?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain;
}
