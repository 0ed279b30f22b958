/** Texts that begin alike have their beginning once. */
import { oneOf, sequence, text, type Grammar } from './grammar.js';

interface Node {
  readonly next: Map<string, Node>;
  isEnd: boolean;
}

/**
 * Makes a grammar of texts, from their ends on.
 * @param make makes the grammar of what may follow a beginning: of the grammars by the next character, and whether a
 *   text ends here
 */
export function foldTrie(
  texts: readonly string[],
  make: (next: ReadonlyMap<string, Grammar>, isEnd: boolean) => Grammar,
): Grammar {
  const root: Node = { next: new Map(), isEnd: false };
  const nodes = [root];
  for (const text of texts) {
    let node = root;
    for (const character of text) {
      let next = node.next.get(character);
      if (!next) {
        next = { next: new Map(), isEnd: false };
        node.next.set(character, next);
        nodes.push(next);
      }
      node = next;
    }
    node.isEnd = true;
  }
  const grammars = new Map<Node, Grammar>();
  // A node is after the one that it follows.
  for (const node of nodes.toReversed()) {
    const next = new Map(Array.from(node.next, ([character, one]) => [character, grammars.get(one)!]));
    grammars.set(node, make(next, node.isEnd));
  }
  return grammars.get(root)!;
}

/** Returns one of these texts. */
export function oneOfTexts(texts: readonly string[]): Grammar {
  return foldTrie(texts, (next, isEnd) =>
    oneOf([
      ...(isEnd ? [sequence()] : []),
      ...Array.from(next, ([character, rest]) => sequence(text(character), rest)),
    ]),
  );
}
