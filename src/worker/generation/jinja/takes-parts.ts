/** Whether a template takes lists of parts as the contents of messages. */
import type { Body } from './ast.js';

interface Node {
  readonly type?: string;
  readonly [key: string]: unknown;
}

/**
 * Returns whether a template looks into a message's content as into a list: it loops over it, filters its items, or reads
 * an item by its number, as `message.content[0].text`. The content is what is called `content` of anything, or a variable
 * or a parameter that it is given to. vLLM decides in the same way, by loops alone.
 */
export function takesParts(body: Body): boolean {
  const nodes = [...nodesOf(body)];
  const names = new Set<string>(['content']);
  const isContent = (node: unknown): boolean => {
    const { type, name, key, of } = (node ?? {}) as Node;
    if (type === 'name') return names.has(name as string);
    if (type === 'attribute') return name === 'content';
    if (type === 'item') return (key as Node).type === 'constant' && (key as Node)['value'] === 'content';
    return type === 'filter' && LISTS.has(name as string) && isContent(of);
  };
  for (const node of nodes) {
    const target = node['target'] as Node | undefined;
    if (node.type === 'set' && target?.type === 'name' && isContent(node['value'])) names.add(target['name'] as string);
  }
  return nodes.some(({ type, of, key, name }) => {
    if (type === 'for' || (type === 'filter' && SELECTS.has(name as string))) return isContent(of);
    const isNumber = type === 'item' && typeof (key as Node)['value'] === 'bigint';
    return isNumber && isContent(of) && nodes.some((one) => one.of !== of && isPartOf(one, of));
  });
}

/** Filters after which a list is a list. */
const LISTS = new Set(['list', 'reverse', 'selectattr', 'rejectattr', 'sort']);
/** Filters of lists of mappings. */
const SELECTS = new Set(['selectattr', 'rejectattr', 'map']);

/** Returns whether a node reads the text or the type of an item of a list. */
function isPartOf({ type, of, name, key }: Node, list: unknown): boolean {
  const item = of as Node | undefined;
  if (item?.type !== 'item' || item['of'] !== list) return false;
  const read = type === 'attribute' ? name : type === 'item' ? (key as Node)['value'] : undefined;
  return read === 'text' || read === 'type';
}

/** Returns every statement and expression of a body. */
function* nodesOf(value: unknown): Generator<Node> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield value as Node;
  for (const one of Object.values(value)) yield* nodesOf(one);
}
