/** Reads the blocks of a template. */
import type { Body, Filters, Routine, Statement } from './ast.js';
import { TemplateError, unsupported } from './errors.js';
import { parseExpression, parseFilter, parseItems, parseTarget, parseTuple } from './parse-expression.js';
import { Stream } from './stream.js';

/** @throws `syntax`; `unsupported` for a block that belongs to templates of several files */
export function parseTemplate(source: string): Body {
  const body = parseBody(new Stream(source), []);
  const names = new Set<string>();
  findNames(body, names);
  if (names.has('self') && /\{%[-+]?\s*block\b/.test(source)) throw unsupported('a block by its name');
  return body;
}

/** Reads up to a block of one of these names, whose name is then the current token; or to the template's end. */
function parseBody(stream: Stream, ends: readonly string[]): Body {
  const body: Statement[] = [];
  for (;;) {
    if (stream.is('eof')) {
      if (ends.length > 0) throw stream.wrong(`expected {% ${ends.at(-1)} %}`);
      return body;
    }
    if (stream.is('data')) {
      const text = stream.next().value;
      if (text !== '') body.push({ type: 'data', text });
    } else if (stream.skip('begin', '{{')) {
      body.push({ type: 'print', value: parseTuple(stream) });
      stream.expect('end', '}}');
    } else {
      stream.expect('begin', '{%');
      if (ends.some((name) => stream.is('name', name))) return body;
      body.push(...parseStatement(stream));
      stream.expect('end', '%}');
    }
  }
}

/** Reads the body of a block, from the end of its first tag to before the end of its last one. */
function parseBlock(stream: Stream, end: string, ...others: readonly string[]): Body {
  stream.skip('operator', ':');
  stream.expect('end', '%}');
  const body = parseBody(stream, [...others, end]);
  if (others.length > 0) return body;
  stream.next();
  if (end === 'endblock') stream.skip('name');
  return body;
}

function parseStatement(stream: Stream): readonly Statement[] {
  const { value: name, line } = stream.expect('name');
  switch (name) {
    case 'set':
      return [parseSet(stream)];
    case 'if':
      return [parseIf(stream)];
    case 'for':
      return [parseFor(stream)];
    case 'break':
    case 'continue':
      return [{ type: name }];
    case 'macro':
      return [{ type: 'macro', routine: parseRoutine(stream, stream.expect('name').value, 'endmacro') }];
    case 'call':
      return [parseCallBlock(stream)];
    case 'filter':
      return [{ type: 'filter', filters: parseFilters(stream), body: parseBlock(stream, 'endfilter') }];
    case 'with':
      return [parseWith(stream)];
    case 'print':
      return parsePrints(stream);
    // transformers' own: it marks what a model has written.
    case 'generation':
      return [{ type: 'with', values: [], body: parseBlock(stream, 'endgeneration') }];
    case 'block':
      stream.expect('name');
      return [{ type: 'with', values: [], body: parseBlock(stream, 'endblock') }];
    case 'autoescape':
    case 'extends':
    case 'from':
    case 'import':
    case 'include':
      throw unsupported(`the block "${name}"`);
    default:
      throw new TemplateError('syntax', `Line ${line}: there is no block "${name}".`);
  }
}

function parsePrints(stream: Stream): readonly Statement[] {
  const prints: Statement[] = [];
  do prints.push({ type: 'print', value: parseExpression(stream) });
  while (stream.skip('operator', ','));
  return prints;
}

function parseSet(stream: Stream): Statement {
  const target = parseTarget(stream);
  if (stream.skip('operator', '=')) return { type: 'set', target, value: parseTuple(stream) };
  const filters = stream.skip('operator', '|') ? parseFilters(stream) : [];
  return { type: 'set-block', target, filters, body: parseBlock(stream, 'endset') };
}

/** Reads filters, the first of which has no sign before it. */
function parseFilters(stream: Stream): Filters {
  const filters = [parseFilter(stream)];
  while (stream.skip('operator', '|')) filters.push(parseFilter(stream));
  return filters;
}

function parseIf(stream: Stream): Statement {
  const branches: (readonly [ReturnType<typeof parseTuple>, Body])[] = [];
  for (;;) {
    const test = parseTuple(stream, { takesIf: false });
    branches.push([test, parseBlock(stream, 'endif', 'elif', 'else')]);
    const { value } = stream.next();
    if (value === 'elif') continue;
    return { type: 'if', branches, otherwise: value === 'else' ? parseBlock(stream, 'endif') : [] };
  }
}

function parseFor(stream: Stream): Statement {
  const target = parseTarget(stream, 'in');
  stream.expect('name', 'in');
  const of = parseTuple(stream, { takesIf: false, end: 'recursive' });
  const test = stream.skip('name', 'if') ? parseExpression(stream) : undefined;
  const isRecursive = stream.skip('name', 'recursive');
  const body = parseBlock(stream, 'endfor', 'else');
  const otherwise = stream.next().value === 'else' ? parseBlock(stream, 'endfor') : [];
  return { type: 'for', target, of, test, isRecursive, body, otherwise };
}

function parseWith(stream: Stream): Statement {
  const values: (readonly [ReturnType<typeof parseTarget>, ReturnType<typeof parseExpression>])[] = [];
  while (!stream.is('end')) {
    if (values.length > 0) stream.expect('operator', ',');
    const target = parseTarget(stream);
    stream.expect('operator', '=');
    values.push([target, parseExpression(stream)]);
  }
  return { type: 'with', values, body: parseBlock(stream, 'endwith') };
}

function parseCallBlock(stream: Stream): Statement {
  const parameters = stream.is('operator', '(') ? parseParameters(stream) : [];
  const call = parseExpression(stream);
  if (call.type !== 'call') throw stream.wrong('expected a call before');
  return { type: 'call', routine: routineOf(stream, 'caller', parameters, 'endcall'), of: call.of, given: call.given };
}

function parseRoutine(stream: Stream, name: string, end: string): Routine {
  return routineOf(stream, name, parseParameters(stream), end);
}

function routineOf(stream: Stream, name: string, parameters: Routine['parameters'], end: string): Routine {
  const body = parseBlock(stream, end);
  const uses = new Set<string>();
  findNames(body, uses);
  return { name, parameters, body, uses };
}

function parseParameters(stream: Stream): Routine['parameters'] {
  stream.expect('operator', '(');
  return parseItems(stream, ')', () => {
    const { value: name } = stream.expect('name');
    return { name, byDefault: stream.skip('operator', '=') ? parseExpression(stream) : undefined };
  });
}

/** Adds which names a body reads. */
function findNames(node: unknown, found: Set<string>): void {
  if (Array.isArray(node)) for (const one of node) findNames(one, found);
  else if (typeof node === 'object' && node !== null) {
    const { type, name } = node as { readonly type?: unknown; readonly name?: unknown };
    if (type === 'name') found.add(name as string);
    for (const one of Object.values(node)) if (typeof one === 'object') findNames(one, found);
  }
}
