import type { MarkdownRenderer } from 'vitepress';

/** Makes empty cells of a table's head plain cells, and leaves out a head that is empty: it would name nothing. */
export function namedHeads({ core }: MarkdownRenderer): void {
  core.ruler.push('named-heads', ({ tokens }) => {
    let head: number | undefined;
    for (const [index, token] of tokens.entries()) {
      if (token.type === 'thead_open') head = index;
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
