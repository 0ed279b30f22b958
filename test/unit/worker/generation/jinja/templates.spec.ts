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
    ['{{ "a".encode() }}', 'the method "encode"'],
    ['{{ 1 is nothing }}', 'the test "nothing"'],
    ['{% include "x" %}', 'the block "include"'],
  ] as const) {
    const error = { kind: 'unsupported', message: expect.stringContaining(name) as unknown };
    expect(() => new Template(source).render({}), source).toThrow(expect.objectContaining(error) as never);
  }
});

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
  ]) {
    const start = performance.now();
    expect(render(source, {}), source.slice(0, 60)).toEqual({ error: 'limit' });
    expect(performance.now() - start, source.slice(0, 60)).toBeLessThan(5000);
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
