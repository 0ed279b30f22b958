/** Reads expressions. Operators bind as in Jinja, which is not quite as in Python. */
import type { Call, Expression, Target } from './ast.js';
import type { Stream } from './stream.js';

const NO_ARGUMENTS: Call = { args: [], named: [], rest: undefined, namedRest: undefined };

/** @param takesIf whether `a if b else c` may follow */
export function parseExpression(stream: Stream, takesIf = true): Expression {
  let value = parseOr(stream);
  if (!takesIf) return value;
  while (stream.skip('name', 'if')) {
    const test = parseOr(stream);
    const otherwise = stream.skip('name', 'else') ? parseExpression(stream) : undefined;
    value = { type: 'if', test, value, otherwise };
  }
  return value;
}

/**
 * Reads an expression, or several with commas between them, which are a tuple.
 * @param end a name that ends it
 */
export function parseTuple(stream: Stream, { takesIf = true, end = '', inParentheses = false } = {}): Expression {
  const items: Expression[] = [];
  let isTuple = false;
  while (!endsTuple(stream, end)) {
    items.push(parseExpression(stream, takesIf));
    if (!stream.skip('operator', ',')) break;
    isTuple = true;
  }
  if (items.length === 1 && !isTuple) return items[0]!;
  if (items.length === 0 && !inParentheses) throw stream.wrong('expected an expression');
  return { type: 'tuple', items };
}

function endsTuple(stream: Stream, end: string): boolean {
  return stream.is('end') || stream.is('operator', ')') || (end !== '' && stream.is('name', end));
}

/** Reads what a value is assigned to: names, with commas between them. */
export function parseTarget(stream: Stream, end = ''): Target {
  const items: Target[] = [];
  let isTuple = false;
  while (!endsTuple(stream, end) && !stream.is('operator', '=')) {
    items.push(parseOneTarget(stream));
    if (!stream.skip('operator', ',')) break;
    isTuple = true;
  }
  if (items.length === 0) throw stream.wrong('expected a name');
  return items.length === 1 && !isTuple ? items[0]! : { type: 'tuple', items };
}

const CONSTANTS = new Map<string, boolean | null>([
  ['true', true],
  ['True', true],
  ['false', false],
  ['False', false],
  ['none', null],
  ['None', null],
]);

function parseOneTarget(stream: Stream): Target {
  if (stream.skip('operator', '(')) {
    const target = parseTarget(stream);
    stream.expect('operator', ')');
    return target;
  }
  if (CONSTANTS.has(stream.current.value)) throw stream.wrong('expected a name');
  const name = stream.expect('name').value;
  return stream.skip('operator', '.')
    ? { type: 'attribute', of: name, name: stream.expect('name').value }
    : { type: 'name', name };
}

function parseOr(stream: Stream): Expression {
  let left = parseAnd(stream);
  while (stream.skip('name', 'or')) left = { type: 'binary', operator: 'or', left, right: parseAnd(stream) };
  return left;
}

function parseAnd(stream: Stream): Expression {
  let left = parseNot(stream);
  while (stream.skip('name', 'and')) left = { type: 'binary', operator: 'and', left, right: parseNot(stream) };
  return left;
}

function parseNot(stream: Stream): Expression {
  if (stream.is('name', 'not') && !isNotIn(stream)) {
    stream.next();
    return { type: 'unary', operator: 'not', of: parseNot(stream) };
  }
  return parseComparison(stream);
}

function isNotIn({ current, following }: Stream): boolean {
  return current.type === 'name' && current.value === 'not' && following.type === 'name' && following.value === 'in';
}

const COMPARISONS = new Set(['==', '!=', '<', '<=', '>', '>=']);

function parseComparison(stream: Stream): Expression {
  const first = parseBinary(stream, 0);
  const others: [string, Expression][] = [];
  for (;;) {
    if (stream.current.type === 'operator' && COMPARISONS.has(stream.current.value))
      others.push([stream.next().value, parseBinary(stream, 0)]);
    else if (stream.skip('name', 'in')) others.push(['in', parseBinary(stream, 0)]);
    else if (isNotIn(stream)) {
      stream.next();
      stream.next();
      others.push(['not in', parseBinary(stream, 0)]);
    } else break;
  }
  return others.length === 0 ? first : { type: 'compare', first, others };
}

/** The operators by how tightly they bind. `~` is between sums and products. */
const LEVELS = [['+', '-'], ['~'], ['*', '/', '//', '%'], ['**']];

function parseBinary(stream: Stream, level: number): Expression {
  const operators = LEVELS[level];
  if (!operators) return parseUnary(stream);
  let left = parseBinary(stream, level + 1);
  const texts = [left];
  while (stream.current.type === 'operator' && operators.includes(stream.current.value)) {
    const operator = stream.next().value;
    const right = parseBinary(stream, level + 1);
    if (operator === '~') texts.push(right);
    else left = { type: 'binary', operator, left, right };
  }
  return texts.length > 1 ? { type: 'concat', items: texts } : left;
}

function parseUnary(stream: Stream, takesFilters = true): Expression {
  const sign = ['+', '-'].find((one) => stream.skip('operator', one));
  const of = sign === undefined ? parsePrimary(stream) : undefined;
  const value = parsePostfix(stream, of ?? { type: 'unary', operator: sign!, of: parseUnary(stream, false) });
  return takesFilters ? parseFilters(stream, value) : value;
}

function parsePrimary(stream: Stream): Expression {
  const { type, value } = stream.current;
  switch (type) {
    case 'name':
      stream.next();
      return CONSTANTS.has(value) ? { type: 'constant', value: CONSTANTS.get(value)! } : { type: 'name', name: value };
    case 'text': {
      let text = '';
      while (stream.is('text')) text += stream.next().value;
      return { type: 'constant', value: text };
    }
    case 'int':
      return { type: 'constant', value: BigInt(stream.next().value.replaceAll('_', '')) };
    case 'float':
      return { type: 'constant', value: Number(stream.next().value.replaceAll('_', '')) };
    default:
  }
  if (stream.skip('operator', '(')) {
    const tuple = parseTuple(stream, { inParentheses: true });
    stream.expect('operator', ')');
    return tuple;
  }
  if (stream.skip('operator', '['))
    return { type: 'list', items: parseItems(stream, ']', () => parseExpression(stream)) };
  if (!stream.skip('operator', '{')) throw stream.wrong('expected an expression');
  const entries = parseItems(stream, '}', () => {
    const key = parseExpression(stream);
    stream.expect('operator', ':');
    return [key, parseExpression(stream)] as const;
  });
  return { type: 'dict', entries };
}

/** Reads what is between brackets, with commas between it. */
export function parseItems<Item>(stream: Stream, close: string, parse: () => Item): Item[] {
  const items: Item[] = [];
  while (!stream.is('operator', close)) {
    if (items.length > 0) stream.expect('operator', ',');
    if (stream.is('operator', close)) break;
    items.push(parse());
  }
  stream.expect('operator', close);
  return items;
}

function parsePostfix(stream: Stream, start: Expression): Expression {
  let value = start;
  for (;;) {
    if (stream.skip('operator', '.')) value = parseAttribute(stream, value);
    else if (stream.skip('operator', '[')) value = parseSubscript(stream, value);
    else if (stream.is('operator', '(')) value = { type: 'call', of: value, given: parseCall(stream) };
    else return value;
  }
}

function parseAttribute(stream: Stream, of: Expression): Expression {
  if (stream.is('int')) return { type: 'item', of, key: parsePrimary(stream) };
  return { type: 'attribute', of, name: stream.expect('name').value };
}

function parseSubscript(stream: Stream, of: Expression): Expression {
  const parts: (Expression | undefined)[] = [undefined];
  const items: Expression[] = [];
  while (!stream.is('operator', ']')) {
    if (items.length > 0) stream.expect('operator', ',');
    if (!stream.is('operator', ':')) parts[0] = parseExpression(stream);
    while (stream.skip('operator', ':'))
      parts.push(stream.is('operator', ']') || stream.is('operator', ':') ? undefined : parseExpression(stream));
    if (parts.length > 1) break;
    items.push(parts[0]!);
  }
  stream.expect('operator', ']');
  if (parts.length > 3 || (parts.length === 1 && items.length === 0))
    throw stream.wrong('expected a key or a slice before');
  if (parts.length > 1) return { type: 'slice', of, parts };
  return { type: 'item', of, key: items.length === 1 ? items[0]! : { type: 'tuple', items } };
}

/** Reads the arguments of a call. */
export function parseCall(stream: Stream): Call {
  stream.expect('operator', '(');
  const args: Expression[] = [];
  const named: [string, Expression][] = [];
  let rest: Expression | undefined;
  let namedRest: Expression | undefined;
  parseItems(stream, ')', () => {
    if (stream.skip('operator', '**')) namedRest = parseExpression(stream);
    else if (stream.skip('operator', '*')) rest = parseExpression(stream);
    else if (stream.is('name') && stream.following.type === 'operator' && stream.following.value === '=') {
      const name = stream.next().value;
      stream.next();
      named.push([name, parseExpression(stream)]);
    } else if (named.length > 0 || rest || namedRest) throw stream.wrong('expected an argument with its name');
    else args.push(parseExpression(stream));
  });
  return { args, named, rest, namedRest };
}

function parseFilters(stream: Stream, start: Expression): Expression {
  let value = start;
  for (;;) {
    if (stream.skip('operator', '|')) value = { type: 'filter', of: value, ...parseFilter(stream) };
    else if (stream.skip('name', 'is')) value = parseTest(stream, value);
    else if (stream.is('operator', '(')) value = { type: 'call', of: value, given: parseCall(stream) };
    else return value;
  }
}

/** Reads a filter's name and arguments. */
export function parseFilter(stream: Stream): { readonly name: string; readonly given: Call } {
  const name = parseDotted(stream);
  return { name, given: stream.is('operator', '(') ? parseCall(stream) : NO_ARGUMENTS };
}

function parseDotted(stream: Stream): string {
  let name = stream.expect('name').value;
  while (stream.skip('operator', '.')) name += `.${stream.expect('name').value}`;
  return name;
}

function parseTest(stream: Stream, of: Expression): Expression {
  const isNot = stream.skip('name', 'not');
  const name = parseDotted(stream);
  const test: Expression = { type: 'test', of, name, given: parseTestArguments(stream) };
  return isNot ? { type: 'unary', operator: 'not', of: test } : test;
}

/** Reads the arguments of a test: one may stand without parentheses. */
function parseTestArguments(stream: Stream): Call {
  if (stream.is('operator', '(')) return parseCall(stream);
  const { type, value } = stream.current;
  const begins =
    type === 'name'
      ? !['else', 'or', 'and'].includes(value)
      : type === 'operator'
        ? '[{'.includes(value)
        : ['text', 'int', 'float'].includes(type);
  if (!begins) return NO_ARGUMENTS;
  if (type === 'name' && value === 'is') throw stream.wrong('tests cannot follow one another');
  return { ...NO_ARGUMENTS, args: [parsePostfix(stream, parsePrimary(stream))] };
}
