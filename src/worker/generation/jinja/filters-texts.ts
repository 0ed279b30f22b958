/** Filters of texts. */
import { flag, integer, needed, text } from './arguments.js';
import type { Budget } from './budget.js';
import { escapeHtml, isSpace, SPACE, splitLines, unescapeHtml } from './characters.js';
import { iterate, lengthOfText } from './compare.js';
import { failure } from './errors.js';
import { formatPercent } from './format.js';
import type { Filter, Filters, FilterTools } from './filter.js';
import { escaped, toJson, toText } from './print.js';
import { capitalize, replaceText, split, strip } from './text-methods.js';
import { asText, Dict, Markup, Tuple, type Value } from './values.js';

/** Returns a text as it is, and another value printed: `Markup` stays. */
function soft(value: Value, { budget }: FilterTools): string | Markup {
  return value instanceof Markup ? value : toText(value, budget);
}

/** Makes a filter of a function of texts. */
const mapped = (change: (own: string) => string): Filter => [
  [],
  (value, tools) => {
    const own = soft(value, tools);
    return own instanceof Markup ? new Markup(change(own.text)) : change(own);
  },
];

const SPACES = new RegExp(`[${SPACE}]+`);

/** Returns a text without tags and comments of HTML, up to one that does not end. */
function withoutTags(text: string): string {
  let [done, position] = ['', 0];
  for (;;) {
    const start = text.indexOf('<', position);
    if (start < 0) break;
    const isComment = text.startsWith('<!--', start);
    const end = isComment ? text.indexOf('-->', start + 4) : text.indexOf('>', start);
    if (end < 0) break;
    done += text.slice(position, start);
    position = end + (isComment ? 3 : 1);
  }
  return done + text.slice(position);
}

const escape: Filter = [[], (value, { budget }) => new Markup(escaped(value, budget))];

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

/** The parts of a line between which it may be broken, as in Python's `TextWrapper.wordsep_re`. */
const [BLANK, LETTER, SIGN] = ['\\t-\\r ', '[\\p{L}\\p{Nl}\\p{No}_]', '[\\p{L}\\p{N}_]'];
const WORDS = new RegExp(`([${BLANK}]+)`);
const WORDS_AND_HYPHENS = new RegExp(
  `([${BLANK}]+|(?<=${SIGN}|[!"'&.,?])-{2,}(?=${SIGN})|[^${BLANK}]+?(?:` +
    `-(?:(?<=${LETTER}{2}-)|(?<=${LETTER}-${LETTER}-))(?=${LETTER}-?${LETTER})|(?=[${BLANK}]|$)|` +
    `(?<=${SIGN}|[!"'&.,?])(?=-{2,}${SIGN})))`,
  'u',
);

/** Breaks a line as `wrap` of Python's textwrap does, which leaves its spaces as they are. */
function wrapLine(line: string, width: number, breaksWords: boolean, breaksHyphens: boolean): string[] {
  const chunks = line.split(breaksHyphens ? WORDS_AND_HYPHENS : WORDS).filter((chunk) => chunk !== '');
  const pieces = chunks.map((chunk) => [...chunk]);
  const lines: string[] = [];
  // The next piece, and how many of its characters are in lines.
  let [at, from] = [0, 0];
  const left = (): number => pieces[at]!.length - from;
  const take = (count = left()): string[] => {
    const taken = pieces[at]!.slice(from, from + count);
    from += count;
    if (left() <= 0) [at, from] = [at + 1, 0];
    return taken;
  };
  const isBlank = (characters: readonly string[]): boolean => characters.every(isSpace);
  while (at < pieces.length) {
    if (lines.length > 0 && isSpace(pieces[at]![from]!)) [at, from] = [at + 1, 0];
    const current: string[][] = [];
    let room = width;
    while (at < pieces.length && left() <= room) {
      room -= left();
      current.push(take());
    }
    if (at < pieces.length && left() > width) {
      if (breaksWords) current.push(take(endOfPart(pieces[at]!.slice(from, from + room), breaksHyphens)));
      else if (current.length === 0) current.push(take());
    }
    if (isBlank(current.at(-1) ?? [])) current.pop();
    if (current.length > 0) lines.push(current.flat().join(''));
  }
  return lines;
}

/** Returns how much of the beginning of a long word stays in a line: up to the last hyphen, if something is before it. */
function endOfPart(beginning: readonly string[], breaksHyphens: boolean): number {
  const hyphen = breaksHyphens ? beginning.lastIndexOf('-') : -1;
  return hyphen > 0 && beginning.slice(0, hyphen).some((one) => one !== '-') ? hyphen + 1 : beginning.length;
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

function urlQuote(value: Value, isQuery: boolean, budget: Budget): string {
  const quoted = encodeURIComponent(toText(value, budget)).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  return isQuery ? quoted.replaceAll('%20', '+') : quoted.replaceAll('%2F', '/');
}

function urlencode(value: Value, { budget }: FilterTools): string {
  if (asText(value) !== undefined || value === null || typeof value !== 'object') return urlQuote(value, false, budget);
  return [...(value instanceof Dict ? value.entries() : iterate(value))]
    .map((pair) => (pair as [Value, Value]).map((one) => urlQuote(one, true, budget)).join('='))
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
  const spaces = (count: number): string => {
    budget.make(count);
    return ' '.repeat(count);
  };
  const indentation =
    margin === undefined || margin === null ? undefined : (asText(margin) ?? spaces(Math.max(0, integer(margin))));
  const own =
    separators === undefined || separators === null ? undefined : [...iterate(separators)].map((one) => text(one));
  const [item = indentation === undefined ? ', ' : ',', key = ': '] = own ?? [];
  return toJson(
    value,
    { ensuresAscii: flag(ascii), indent: indentation, separators: [item, key], sortsKeys: flag(sorted) },
    budget,
  );
}

export const TEXT_FILTERS: Filters = {
  capitalize: mapped(capitalize),
  center: [
    ['width'],
    (value, { budget }, width) => {
      const [own, wide] = [toText(value, budget), integer(width, 80)];
      const missing = Math.max(0, wide - lengthOfText(own));
      budget.make(missing);
      const before = (missing >> 1) + (missing & wide & 1);
      return ' '.repeat(before) + own + ' '.repeat(missing - before);
    },
  ],
  e: escape,
  escape,
  forceescape: [[], (value, { budget }) => new Markup(escapeHtml(toText(value, budget)))],
  indent: [['width', 'first', 'blank'], indent],
  lower: mapped((own) => own.toLowerCase()),
  replace: [
    ['old', 'new', 'count'],
    (value, { budget }, old, fresh, most) =>
      replaceText(
        toText(value, budget),
        toText(needed(old), budget),
        toText(needed(fresh), budget),
        most === null ? undefined : most,
        budget,
      ),
  ],
  safe: [[], (value, { budget }) => new Markup(toText(value, budget))],
  string: [[], soft],
  striptags: [
    [],
    (value, { budget }) =>
      unescapeHtml(
        withoutTags(toText(value, budget))
          .split(SPACES)
          .filter((word) => word !== '')
          .join(' '),
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
    (value, tools, chars) => {
      const own = soft(value, tools);
      const stripped = strip(own instanceof Markup ? own.text : own, chars);
      return own instanceof Markup ? new Markup(stripped) : stripped;
    },
  ],
  truncate: [['length', 'killwords', 'end', 'leeway'], truncate],
  upper: mapped((own) => own.toUpperCase()),
  urlencode: [[], urlencode],
  wordcount: [[], (value, { budget }) => BigInt(toText(value, budget).match(/[\p{L}\p{N}_]+/gu)?.length ?? 0)],
  wordwrap: [['width', 'break_long_words', 'wrapstring', 'break_on_hyphens'], wordwrap],
};

/** Applies `format`, which takes any number of arguments. */
export function formatFilter(
  value: Value,
  args: readonly Value[],
  named: ReadonlyMap<string, Value>,
  tools: FilterTools,
): Value {
  if (args.length > 0 && named.size > 0)
    throw failure("can't handle positional and keyword arguments at the same time");
  return formatPercent(soft(value, tools), named.size > 0 ? new Dict(named) : Tuple.with(args), tools.budget);
}
