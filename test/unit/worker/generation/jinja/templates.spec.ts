// Each template of `test/goldens/chat-templates`, against what transformers renders (make.py there).
import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { Template } from '../../../../../src/worker/generation/jinja/template.ts';

interface Right {
  readonly text?: string;
  readonly error?: string;
}

const read = (file: string): string =>
  readFileSync(new URL(`../../../../goldens/chat-templates/${file}`, import.meta.url), 'utf8');
const json = <Value>(file: string): Value => JSON.parse(read(file)) as Value;
const conversations = json<Record<string, Record<string, unknown>>>('conversations.json');
const expected = json<Record<string, Record<string, Right>>>('expected.json');

/** What the scripts in Python set, too. */
const special = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' };
const now = (): Date => new Date(2024, 6, 6, 15, 4, 5);
const render = (source: string, given: object): Right => {
  try {
    return { text: new Template(source).render({ tools: null, documents: null, ...special, ...given }, now) };
  } catch (error) {
    return { error: (error as { kind: string }).kind };
  }
};

for (const [file, rights] of Object.entries(expected))
  test(`templates/${file} is rendered as by transformers`, () => {
    for (const [name, right] of Object.entries(rights)) {
      const got = render(read(`templates/${file}`), conversations[name]!);
      if (right.error === undefined) expect(got, name).toEqual(right);
      else expect(got.error, name).toBe(right.error === 'TemplateError' ? 'raised' : 'runtime');
    }
  });

test('short templates are rendered as by Jinja in Python, and refused where it refuses them', () => {
  const { variables, snippets } = json<{ variables: object; snippets: readonly string[] }>('snippets.json');
  const rights = json<readonly Right[]>('snippets.expected.json');
  for (const [at, snippet] of snippets.entries()) {
    const got = render(snippet, { messages: [], ...variables });
    if (rights[at]!.error === undefined) expect(got, snippet).toEqual(rights[at]);
    else expect(['raised', 'runtime', 'syntax', 'unsupported'], snippet).toContain(got.error);
  }
});

test('what is not there is named, and is no fault of the messages', () => {
  for (const [source, name] of [
    ['{{ 1 | pprint }}', 'the filter "pprint"'],
    ['{{ "a".encode() }}', 'the attribute "encode" of str'],
    ['{{ 1.5.is_integer() }}', 'the attribute "is_integer" of float'],
    ['{{ true.real }}', 'the attribute "real" of bool'],
    ['{{ range(3).start }}', 'the attribute "start" of range'],
    ['{{ (-8) ** 0.5 }}', 'a complex number'],
    ['{{ "{:08,}".format(1) }}', 'the format "08,"'],
    ['{{ 1 is nothing }}', 'the test "nothing"'],
    ['{% include "x" %}', 'the block "include"'],
    ['{% block b %}{% endblock %}{{ self.b() }}', 'a block by its name'],
  ] as const) {
    const error = { kind: 'unsupported', message: expect.stringContaining(name) as unknown };
    expect(() => new Template(source).render({}), source).toThrow(expect.objectContaining(error) as never);
  }
});

/** Returns the seconds that a core worked: another process may hold it up for longer. */
function secondsOfWork(run: () => void): number {
  const start = process.cpuUsage();
  run();
  return process.cpuUsage(start).user / 1e6;
}

test('a template that does not end, or makes too much, ends with an error within seconds', () => {
  const loop = '{% for a in range(100000) %}';
  const ends = '{% endfor %}';
  for (const source of [
    `${loop}${loop}${ends}${ends}`,
    `${loop}${'x'.repeat(1000)}${ends}`,
    '{{ "x" * 1000000000000 }}',
    '{{ [0] * 1000000000000 }}',
    '{{ "%1000000000d" % 1 }}',
    '{{ "{:1000000000}".format(1) }}',
    '{{ "a".center(1000000000) }}',
    '{{ 10 ** 1000000000 }}',
    '{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}',
    '{% set ns = namespace(x="ab") %}{% for a in range(1000) %}{% set ns.x = ns.x + ns.x %}{% endfor %}',
    '{% set ns = namespace(x=[1]) %}{% for a in range(1000) %}{% set ns.x = ns.x + ns.x %}{% endfor %}',
    '{% set ns = namespace(x=99) %}{% for a in range(1000) %}{% set ns.x = ns.x * ns.x %}{% endfor %}',
    '{% set ns = namespace(x="ab") %}{% for a in range(1000) %}{% set ns.x = ns.x | replace("", ns.x) %}{% endfor %}',
    `{{ ${'('.repeat(100_000)}1${')'.repeat(100_000)} }}`,
    '{% set ns = namespace(x=[]) %}{% for a in range(100000) %}{% set ns.x = [ns.x] %}{% endfor %}{{ ns.x }}',
    '{% set ns = namespace(x=[1]) %}{% for a in range(100000) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}',
    // Each list has the one before twice: 2^40 comparisons.
    '{% set ns = namespace(x=[1], y=[1]) %}{% for a in range(40) %}{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}{{ ns.x == ns.y }}',
    '{% set ns = namespace(x=(1,)) %}{% for a in range(40) %}{% set ns.x = (ns.x, ns.x) %}{% endfor %}{{ {ns.x: 1} }}',
    `${loop}{% set found = "x" in range(100000) %}${ends}`,
    // What is read, printed or copied again and again.
    ...['big | length', 'big[5]', 'big is lower', 'big.find("y")', 'big.count("x")', 'big.split("x")', 'big[1:]'].map(
      (one) => `{% set big = "x" * 100000 %}${loop}{% set y = ${one} %}${ends}`,
    ),
    ...['list.copy()', 'list[1:]', 'cycler(*list)', 'f(*list)'].map(
      (one) =>
        `{% macro f() %}{{ varargs | length }}{% endmacro %}{% set list = range(99999) | list %}${loop}{% set y = ${one} %}${ends}`,
    ),
    ...['x | string', '"%s" % x', '"{}".format(x)', 'x | urlencode', '{}[x]', 'x | tojson', 'x is lower'].map(
      (one) =>
        `{% set ns = namespace(x=[1]) %}{% for a in range(60) %}{% set ns.x = [ns.x, ns.x] %}{% endfor %}{% set x = ns.x %}{{ ${one} }}`,
    ),
    '{{ messages | tojson(indent=1000000000) }}',
    '{{ ("x" * 10000000) | wordwrap(1) | length }}',
    '{{ strftime_now("%c" * 3000000) }}',
    '{{ ("%%" * 5000000) % 1 }}',
  ]) {
    const seconds = secondsOfWork(() => expect(render(source, {}), source.slice(0, 60)).toEqual({ error: 'limit' }));
    expect(seconds, source.slice(0, 99)).toBeLessThan(5);
  }
});

test('a long conversation may be copied some times, and not without end', () => {
  const messages = Array.from({ length: 500 }, (_, at) => ({
    role: at % 2 ? 'assistant' : 'user',
    content: '0123456789'.repeat(1000),
  }));
  const each = (body: string): string => `{% for m in messages %}${body}{% endfor %}`;
  // As published templates do: trimmed, kept in a variable, and joined before it is printed.
  const usual = "{% set text = m.content | trim %}{{ '[' + m.role + ']' + '\n' + text + '[end]' + '\n' }}";
  const rest = 250 * ('[user]\n[end]\n'.length + '[assistant]\n[end]\n'.length);
  expect(render(`{% set all %}${each(usual)}{% endset %}{{ all | length }}`, { messages })).toEqual({
    text: String(5_000_000 + rest),
  });
  const twice = '{% set ns = namespace(all="") %}' + each('{% set ns.all = ns.all + m.content %}');
  expect(render(twice, { messages })).toEqual({ error: 'limit' });
});

test('long texts are read in time that grows with their length', () => {
  for (const [source, length] of [
    ['{{ ("<!--" * 100000) | striptags | length }}', '400000'],
    ['{{ ("<" * 100000) | striptags | length }}', '100000'],
    ['{{ ("<a>" * 100000) | striptags | length }}', '0'],
    ['{{ ("x" * 100000) | wordwrap(1) | length }}', '199999'],
    ['{{ ("x-y " * 20000) | wordwrap(1) | length }}', '119999'],
    ['{{ ("7" * 4000) | int % 2 }}', '1'],
  ] as const) {
    expect(
      secondsOfWork(() => expect(render(source, {}), source).toEqual({ text: length })),
      source,
    ).toBeLessThan(2);
  }
});

test('whether a template takes lists of parts', () => {
  const takes = (source: string): boolean => new Template(source).takesParts;
  const within = (body: string): string => `{% for m in messages %}${body}{% endfor %}`;
  for (const body of [
    '{% for p in m.content %}{{ p.text }}{% endfor %}',
    "{% set c = m['content'] %}{% for p in c %}{{ p }}{% endfor %}",
    "{{ m.content | selectattr('type', 'equalto', 'text') | list }}",
    "{{ m['content'][0]['text'] }}",
    '{% macro write(content) %}{% for p in content %}{{ p.text }}{% endfor %}{% endmacro %}{{ write(m.content) }}',
  ])
    expect(takes(within(body)), body).toBe(true);
  for (const body of [
    '{{ m.content }}',
    "{{ m.content.split('x')[0] }}",
    "{{ m['content'][0] }}",
    '{{ m.content | trim }}',
  ])
    expect(takes(within(body)), body).toBe(false);
});
