import type { MarkdownRenderer } from 'vitepress';

/** Characters above which a cell is a sentence, for which a column has a least width. */
const LONG = 40;

/**
 * Makes empty cells of a table's head plain cells, and leaves out a head that is empty: it would name nothing. Cells with
 * sentences get the class `long`.
 */
export function readableTables({ core }: MarkdownRenderer): void {
  core.ruler.push('readable-tables', ({ tokens }) => {
    let head: number | undefined;
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'thead_open') head = index;
      if (token.type === 'td_open' && plain(tokens[index + 1]!.content).length > LONG) token.attrJoin('class', 'long');
      if (token.type === 'th_open' && tokens[index + 1]!.content === '') {
        token.tag = 'td';
        tokens[index + 2]!.tag = 'td';
      }
      if (token.type !== 'thead_close' || head === undefined) continue;
      const inside = tokens.slice(head, index + 1);
      if (inside.every(({ type, content }) => type !== 'inline' || content === ''))
        for (const one of inside) [one.type, one.hidden, one.children] = ['text', true, []];
    }
  });
}

/** Returns a cell's words, without the addresses of links. */
function plain(text: string): string {
  return text.replace(/\]\([^)]*\)/g, '');
}
