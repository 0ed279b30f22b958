/** Filters of texts. */
import { flag, integer, needed, text } from './arguments.js';
import { escapeHtml, isSpace, SPACE, splitLines, stripEnds } from './characters.js';
import { iterate, lengthOfText } from './compare.js';
import { failure } from './errors.js';
import { formatPercent } from './format.js';
import type { Filter, Filters, FilterTools } from './filter.js';
import { escaped, toJson, toText } from './print.js';
import { replaceText, split } from './text-methods.js';
import { asText, Dict, Markup, Tuple, type Value } from './values.js';

/** Returns a text as it is, and another value printed: `Markup` stays. */
function soft(value: Value): string | Markup {
  return value instanceof Markup ? value : toText(value);
}

/** Makes a filter of a function of texts. */
const mapped = (change: (own: string) => string): Filter => [
  [],
  (value, { budget }) => {
    const own = soft(value);
    budget.make(toText(own).length);
    return own instanceof Markup ? new Markup(change(own.text)) : change(own);
  },
];

const escape: Filter = [[], (value) => new Markup(escaped(value))];

function capitalize(own: string): string {
  const [first = '', ...rest] = own;
  return first.toUpperCase() + rest.join('').toLowerCase();
}

function indent(
  value: Value,
  { budget }: FilterTools,
  width: Value | undefined,
  first: Value | undefined,
  blank: Value | undefined,
): Value {
  const own = text(value);
  const margin = asText(width) ?? ' '.repeat(Math.max(0, integer(width, 4)));
  const lines = splitLines(`${own}\n`);
  budget.make(own.length + lines.length * margin.length);
  const result = lines
    .map((line, at) =>
      at === 0 ? (flag(first) ? margin + line : line) : line === '' && !flag(blank) ? line : margin + line,
    )
    .join('\n');
  return value instanceof Markup ? new Markup(result) : result;
}

function truncate(
  value: Value,
  _tools: FilterTools,
  length: Value | undefined,
  kills: Value | undefined,
  end: Value | undefined,
  leeway: Value | undefined,
): Value {
  const [own, most, mark] = [text(value), integer(length, 255), text(end, '...')];
  const characters = [...own];
  if (most < lengthOfText(mark)) throw failure(`expected length >= ${lengthOfText(mark)}, got ${most}`);
  if (characters.length <= most + (leeway === undefined || leeway === null ? 5 : integer(leeway))) return value;
  const short = characters.slice(0, most - lengthOfText(mark)).join('');
  return (flag(kills) ? short : split(short, ' ', 1n, true)[0]!) + mark;
}

/** Words, and the spaces between them. */
const CHUNKS = new RegExp(`[${SPACE}]+|[^${SPACE}]+`, 'g');

/** Breaks a line as Python's textwrap does, with its spaces as they are. */
function wrapLine(line: string, width: number, breaksWords: boolean, breaksHyphens: boolean): string[] {
  const pieces = (line.match(CHUNKS) ?? []).flatMap((chunk) =>
    breaksHyphens ? chunk.split(/(?<=[\p{L}\d][\p{L}\d]-)(?=\p{L}\p{L})/u) : [chunk],
  );
  const lines: string[] = [];
  while (pieces.length > 0) {
    if (lines.length > 0 && stripEnds(pieces[0]!, isSpace, 'left') === '') pieces.shift();
    let current = '';
    while (pieces.length > 0 && lengthOfText(current + pieces[0]!) <= width) current += pieces.shift()!;
    if (pieces.length > 0 && lengthOfText(pieces[0]!) > width) {
      const room = breaksWords ? width - lengthOfText(current) : current === '' ? Infinity : 0;
      const characters = [...pieces[0]!];
      current += characters.splice(0, Math.min(characters.length, room)).join('');
      if (characters.length > 0) pieces[0] = characters.join('');
      else pieces.shift();
    }
    const stripped = stripEnds(current, isSpace, 'right');
    if (stripped !== '') lines.push(stripped);
  }
  return lines;
}

function wordwrap(
  value: Value,
  { budget }: FilterTools,
  width: Value | undefined,
  breaks: Value | undefined,
  joint: Value | undefined,
  hyphens: Value | undefined,
): Value {
  const [wide, mark] = [integer(width, 79), joint === undefined || joint === null ? '\n' : text(joint)];
  if (wide <= 0) throw failure(`invalid width ${wide} (must be > 0)`);
  const own = text(value);
  budget.make(own.length * (1 + mark.length));
  return splitLines(own)
    .map((line) => wrapLine(line, wide, flag(breaks, true), flag(hyphens, true)).join(mark))
    .join(mark);
}

function urlQuote(value: Value, isQuery: boolean): string {
  const quoted = encodeURIComponent(toText(value)).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/');
}

function urlencode(value: Value): string {
  if (asText(value) !== undefined || value === null || typeof value !== 'object') return urlQuote(value, false);
  return [...(value instanceof Dict ? value.entries() : iterate(value))]
    .map((pair) => (pair as [Value, Value]).map((one) => urlQuote(one, true)).join('='))
    .join('&');
}

function tojson(
  value: Value,
  { budget }: FilterTools,
  ascii: Value | undefined,
  margin: Value | undefined,
  separators: Value | undefined,
  sorted: Value | undefined,
): string {
  const indentation =
    margin === undefined || margin === null ? undefined : (asText(margin) ?? ' '.repeat(Math.max(0, integer(margin))));
  const own =
    separators === undefined || separators === null ? undefined : [...iterate(separators)].map((one) => text(one));
  const [item = indentation === undefined ? ', ' : ',', key = ': '] = own ?? [];
  const json = toJson(
    value,
    { ensuresAscii: flag(ascii), indent: indentation, separators: [item, key], sortsKeys: flag(sorted) },
    budget,
  );
  budget.make(json.length);
  return json;
}

export const TEXT_FILTERS: Filters = {
  capitalize: mapped(capitalize),
  center: [
    ['width'],
    (value, { budget }, width) => {
      const [own, wide] = [toText(value), integer(width, 80)];
      const missing = Math.max(0, wide - lengthOfText(own));
      budget.make(missing);
      const before = (missing >> 1) + (missing & wide & 1);
      return ' '.repeat(before) + own + ' '.repeat(missing - before);
    },
  ],
  e: escape,
  escape,
  forceescape: [[], (value) => new Markup(escapeHtml(toText(value)))],
  indent: [['width', 'first', 'blank'], indent],
  lower: mapped((own) => own.toLowerCase()),
  replace: [
    ['old', 'new', 'count'],
    (value, { budget }, old, fresh, most) =>
      replaceText(toText(value), toText(needed(old)), toText(needed(fresh)), most === null ? undefined : most, budget),
  ],
  safe: [[], (value) => new Markup(toText(value))],
  string: [[], soft],
  striptags: [
    [],
    (value) =>
      toText(value)
        .replace(/<!--[^]*?-->/g, '')
        .replace(/<[^>]*>/g, '')
        .split(new RegExp(`[${SPACE}]+`))
        .filter((word) => word !== '')
        .join(' ')
        .replace(
          /&(lt|gt|amp|quot|#39|#34);/g,
          (_, name: string) => ({ lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", '#34': '"' })[name]!,
        ),
  ],
  title: mapped((own) =>
    own
      .split(/([-\s({[<]+)/u)
      .map(capitalize)
      .join(''),
  ),
  tojson: [['ensure_ascii', 'indent', 'separators', 'sort_keys'], tojson],
  trim: [
    ['chars'],
    (value, _tools, chars) => {
      const own = soft(value);
      const set = chars === undefined || chars === null ? undefined : new Set(text(chars));
      const stripped = stripEnds(toText(own), set ? (one) => set.has(one) : isSpace, 'both');
      return own instanceof Markup ? new Markup(stripped) : stripped;
    },
  ],
  truncate: [['length', 'killwords', 'end', 'leeway'], truncate],
  upper: mapped((own) => own.toUpperCase()),
  urlencode: [[], urlencode],
  wordcount: [[], (value) => BigInt(toText(value).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)],
  wordwrap: [['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'], wordwrap],
};

/** `format` takes any number of arguments. */
export function formatFilter(
  value: Value,
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
  { budget }: FilterTools,
): Value {
  if (args.length > 0 && named.size > 0)
    throw failure("can't handle positional and keyword arguments at the same time");
  return formatPercent(soft(value), named.size > 0 ? new Dict(named) : Tuple.with(args), budget);
}
