// The grammars of JSON Schemas. What fits a schema is decided by @cfworker/json-schema, and what a pattern finds by
// JavaScript's own regular expressions: neither knows anything of grammars.
import { Validator } from '@cfworker/json-schema';
import { expect, test } from '@playwright/test';
import { Automaton } from '../../../../../src/worker/generation/grammar/automaton.ts';
import { FORMATS } from '../../../../../src/worker/generation/grammar/formats.ts';
import { schemaGrammar } from '../../../../../src/worker/generation/grammar/json-schema.ts';
import { matcher } from '../../../../../src/worker/generation/grammar/regular.ts';
import { random } from '../../../../random.ts';
import { randomSchema } from '../random-schemas.ts';
import { walk } from './walk.ts';

const validator = (schema: unknown): Validator => new Validator(schema as ConstructorParameters<typeof Validator>[0]);
const closed = (properties: object, required = Object.keys(properties)): object => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});
const EMAIL = "^(?!\\.)(?!.*\\.\\.)([A-Za-z0-9_'+\\-\\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$";
const DURATION =
  '^P(?:(\\d+W)|(?!.*W)(?=\\d|T\\d)(\\d+Y)?(\\d+M)?(\\d+D)?(T(?=\\d)(\\d+H)?(\\d+M)?(\\d+([.,]\\d+)?S)?)?)$';

/** What zod, pydantic, OpenAPI and older drafts write, with values that fit and values that do not. */
const KINDS: readonly (readonly [schema: object, fit: readonly unknown[], others: readonly unknown[]])[] = [
  [
    {
      oneOf: [{ $ref: '#/$defs/cat' }, closed({ kind: { const: 'dog' } })],
      discriminator: { propertyName: 'kind' },
      $defs: { cat: closed({ kind: { const: 'cat' }, lives: { type: 'integer' } }) },
    },
    [{ kind: 'cat', lives: 9 }, { kind: 'dog' }],
    [{ kind: 'cat' }, { kind: 'dog', lives: 1 }, { kind: 'cow' }],
  ],
  // As serde writes an enum: the names tell the alternatives apart.
  [
    { oneOf: [closed({ Circle: { type: 'number' } }), closed({ Square: { type: 'number' } }), { enum: ['None'] }] },
    [{ Circle: 1 }, { Square: 2.5 }, 'None'],
    [{}, { Circle: 1, Square: 2 }, 'Circle'],
  ],
  [
    { type: 'object', propertyNames: { type: 'string', minLength: 2 }, additionalProperties: { type: 'boolean' } },
    [{}, { ab: true }, { ä1: false, bcd: true }],
    [{ a: true }, { ab: 1 }],
  ],
  [
    { type: 'object', propertyNames: { enum: ['a', 'b'] }, additionalProperties: { const: 1 }, required: ['b'] },
    [{ b: 1 }, { b: 1, a: 1 }],
    [{}, { a: 1 }, { b: 1, c: 1 }],
  ],
  [
    {
      type: 'object',
      patternProperties: { '^x-': { type: 'string' }, '\\d$': { type: 'null' } },
      properties: { a1: {} },
    },
    [{}, { a1: null }, { 'x-a': 'b' }, { b2: null }],
    [{ a1: 1 }, { 'x-a': null }, { b2: 'b' }],
  ],
  [
    closed({ a: { const: 1 }, b: { const: 1 }, c: { const: 1 }, d: { const: 1 } }, ['c']),
    [{ c: 1 }, { a: 1, c: 1, d: 1 }],
    [{ a: 1 }, { c: 1, e: 1 }],
  ],
  [
    { ...closed({ a: { const: 1 }, b: { const: 1 }, c: { const: 1 }, d: { const: 1 } }, ['c']), minProperties: 2 },
    [
      { c: 1, d: 1 },
      { a: 1, b: 1, c: 1, d: 1 },
    ],
    [{ c: 1 }, { a: 1, b: 1 }],
  ],
  [
    { ...closed({ a: {}, b: {}, c: {} }, ['c']), minProperties: 2, maxProperties: 2 },
    [
      { a: 1, c: 2 },
      { b: 1, c: [] },
    ],
    [{ c: 1 }, { a: 1, b: 2, c: 3 }],
  ],
  [
    { type: 'object', additionalProperties: { type: 'boolean' }, minProperties: 1, maxProperties: 2 },
    [{ a: true }, { a: true, b: false }],
    [{}, { a: true, b: true, c: true }],
  ],
  [{ type: 'string', format: 'email', pattern: EMAIL }, ['a@b.cd', 'a.b+c@d-e.org'], ['a..b@c.de', 'a@b', '.a@b.cd']],
  [
    { type: 'string', format: 'duration', pattern: DURATION },
    ['P1D', 'PT5M', 'P2W', 'P1Y2M3DT4H'],
    ['P', 'P1DT', 'P1W1D'],
  ],
  [{ type: 'string', format: 'ends_with', pattern: '.*\\.md$' }, ['.md', 'ä b.md'], ['md', '.md ', 'a\n.mD']],
  [
    { type: 'string', minLength: 8, pattern: '^(?=.*[A-Z])(?=.*\\d).*$', maxLength: 12 },
    ['Abcdefg1', '1234567Z', '東京東京東京0X'],
    ['Abcdef1', 'abcdefg1', 'Abcdefgh', 'A1aaaaaaaaaaa'],
  ],
  [{ type: 'string', format: 'date' }, ['2024-02-29', '1999-12-31'], ['2023-02-29', '2024-13-01', '2024-1-1']],
  [{ type: 'string', format: 'date-time' }, ['2024-02-29T23:59:59Z', '2024-01-01T00:00:00.5+01:30'], ['2024-01-01']],
  [{ type: 'string', contentEncoding: 'base64' }, ['', 'aGk=', 'aGV5'], ['a', 'aGk', '$$$$']],
  [{ type: 'string', format: 'uri', minLength: 1, maxLength: 2083 }, ['https://a.b/c?d=1', 'ftp://a'], ['a b', '']],
  [{ type: 'string', format: 'password', maxLength: 3 }, ['a"b', ''], ['abcd']],
  [{ type: 'integer', format: 'int32' }, [0, -2_147_483_648, 2_147_483_647], [1.5]],
  [{ type: 'number', minimum: 0.5, maximum: 0.75 }, [0.5, 0.6, 0.74999, 0.75], [0.49999, 0.751, 0, 1]],
  [{ type: 'number', exclusiveMinimum: 1e-3, maximum: 1e20 }, [0.0011, 3, 1e14], [0.001, 0, -1]],
  [{ type: 'number', minimum: 1e16 }, [1e16, 20_000_000_000_000_000], [1, 1e15]],
  [{ type: 'number', multipleOf: 0.25 }, [0, 0.25, -1.5, 12], [0.3, 1.26]],
  [{ type: 'integer', multipleOf: 12, exclusiveMinimum: 0, maximum: 5000 }, [12, 24, 4992], [0, 13, 5004]],
  [{ type: 'number', minimum: 5, exclusiveMinimum: true }, [], [5, 4]],
  [
    { type: 'array', items: [{ type: 'null' }], additionalItems: { const: 1 } },
    [[], [null], [null, 1, 1]],
    [[1], [null, 2]],
  ],
  [
    { type: 'array', items: { enum: ['a', 'b', 'c'] }, uniqueItems: true },
    [[], ['c', 'a'], ['b', 'a', 'c']],
    [['a', 'a']],
  ],
  [
    { type: 'array', items: { type: 'string' }, uniqueItems: true, maxItems: 3 },
    [
      ['b', 'a'],
      ['x', '', '数'],
      ['Zoe', 'adam'],
    ],
    [
      ['a', 'a'],
      ['x', 'a', 'x'],
    ],
  ],
  [
    { type: 'array', items: { type: ['integer', 'boolean'], minimum: 0, maximum: 30 }, uniqueItems: true, minItems: 2 },
    [
      [30, 3],
      [true, 0, false],
    ],
    [[7], [7, 7], [true, true]],
  ],
  [{ type: 'array', items: { type: 'number' }, uniqueItems: true, maxItems: 2 }, [[1, 2.5]], [[1, 1]]],
  [{ type: 'string', minLength: 1, nullable: true }, ['a'], ['']],
  [
    {
      $ref: '#node',
      $defs: { n: { $anchor: 'node', ...closed({ next: { anyOf: [{ $ref: '#node' }, { type: 'null' }] } }) } },
    },
    [{ next: null }, { next: { next: null } }],
    [{}, { next: 1 }],
  ],
  // An optional property that refers to what it is in, with more said of it.
  [
    { type: 'object', properties: { v: { type: 'null' }, next: { $ref: '#', required: ['v'], description: 'More' } } },
    [{}, { next: { v: null } }, { v: null, next: { v: null, next: { v: null } } }],
    [{ next: {} }, { next: { v: null, next: {} } }],
  ],
  [
    {
      allOf: [{ $ref: '#/$defs/base' }, { properties: { b: { type: 'integer', maximum: 3 } }, required: ['a', 'b'] }],
      $defs: { base: { type: 'object', properties: { a: { type: 'string', maxLength: 2 }, b: { minimum: 1 } } } },
    },
    [
      { a: 'x', b: 1 },
      { a: '', b: 3 },
    ],
    [{ a: 'x' }, { a: 'x', b: 4 }, { a: 'xyz', b: 1 }, { a: 'x', b: 0 }],
  ],
  [
    { type: 'string', allOf: [{ pattern: '^a' }, { pattern: 'z$' }, { minLength: 3 }, { maxLength: 4 }] },
    ['abz', 'a\nzz'],
    ['az', 'abc', 'abbbz'],
  ],
  [closed({ a: { type: 'null' }, b: { not: {} }, c: false }, ['a']), [{ a: null }], [{ a: null, b: 1 }, {}]],
  [{ not: { type: ['string', 'number'] } }, [null, true, [], { a: 1 }], ['a', 1, 1.5]],
  [
    // oxlint-disable-next-line unicorn/no-thenable
    { type: ['string', 'integer'], if: { type: 'string' }, then: { maxLength: 1 }, else: { minimum: 3 } },
    ['', 'a', 3],
    ['ab', 2],
  ],
  [{ enum: ['a', 'bcd', 5, null], minLength: 2, maximum: 4 }, ['bcd', null], ['a', 5]],
  [{ type: 'object', minProperties: 1, properties: {} }, [{ a: 1 }], [{}]],
];

for (const [schema, fit, others] of KINDS)
  test(`texts of ${JSON.stringify(schema).slice(0, 150)}`, () => {
    const grammar = schemaGrammar(schema, 'schema');
    const accepts = matcher(grammar);
    const automaton = new Automaton(grammar);
    const valid = validator(schema);
    for (let seed = 0; seed < 40; seed++) {
      const text = walk(automaton, seed);
      if (text !== undefined) expect(valid.validate(JSON.parse(text)).valid, text).toBe(true);
    }
    for (const value of fit) {
      expect(valid.validate(value).valid, JSON.stringify(value)).toBe(true);
      expect(accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(true);
    }
    for (const value of others) expect(accepts(JSON.stringify(value)), JSON.stringify(value)).toBe(false);
  });

test('a reference is unescaped as RFC 6901 says: ~01 is ~1, not a slash', () => {
  const schema = { $ref: '#/$defs/a~01b', $defs: { 'a~1b': { const: 1 }, 'a/b': { const: 2 } } };
  const automaton = new Automaton(schemaGrammar(schema, 'schema'));
  automaton.beginSearch();
  const mayBegin = (text: string): boolean => automaton.step(automaton.start, text.charCodeAt(0)) !== undefined;
  expect(['1', '2'].map(mayBegin)).toEqual([true, false]);
});

test('200 schemas at random: what the grammar has, fits, and so does each value as JSON.stringify writes it', () => {
  let texts = 0;
  for (let seed = 0; seed < 200; seed++) {
    const schema = randomSchema(random(seed));
    const grammar = schemaGrammar(schema, 'schema');
    const accepts = matcher(grammar);
    const automaton = new Automaton(grammar);
    const valid = validator(schema);
    for (let round = 0; round < 10; round++) {
      const text = walk(automaton, seed * 100 + round);
      if (text === undefined) continue;
      texts += 1;
      const where = `${JSON.stringify(schema)} ${text}`;
      const value: unknown = JSON.parse(text);
      expect(valid.validate(value).valid, where).toBe(true);
      // Names such as "1" move to the beginning of JavaScript's objects, and exponents become more digits.
      if (!/"\d+":|\de/i.test(text)) expect(accepts(JSON.stringify(value)), where).toBe(true);
    }
  }
  expect(texts).toBeGreaterThan(1900);
});

test('the formats: each text is one of its format', () => {
  // @cfworker/json-schema knows those of JSON Schema alone.
  for (const format of Object.keys(FORMATS)) {
    const automaton = new Automaton(schemaGrammar({ type: 'string', format }, 'schema'));
    const name = /^uuid\d$/.test(format) ? 'uuid' : format;
    const valid = validator({ type: 'string', format: name });
    for (let seed = 0; seed < 30; seed++) {
      const text = walk(automaton, seed);
      if (text !== undefined) expect(valid.validate(JSON.parse(text)).valid, `${format} ${text}`).toBe(true);
    }
  }
});

const PATTERNS = [
  'a|bc',
  '^a|b$',
  '^(?:ab|c)*d?$',
  '^[^a-c]+$',
  '^[\\w-.]{2,3}$',
  '^\\S\\s\\D\\W$',
  '^.$',
  '^[\\u00e0-\\u00ff東\\]]+$',
  '^\\x61\\u{62}?\\t*$',
  '^(?!ab)[a-d]{2}(?=d|$)',
  '(?=c)c|^(?:a(?!b))?[bc]+$',
  '^(?<first>a)(?:b(?=c)c)?$',
  '^a{2}b{0,2}?c{1,}$',
  '^$|^[[\\-\\]]+$',
  '^(?=.*\\d)(?!.*[ä😀])',
  '[^]\\n',
  '^(a?){3}b*?$',
];

test('patterns: exactly the texts in which JavaScript finds them', () => {
  const letters = [
    'a',
    'b',
    'c',
    'd',
    '1',
    '-',
    '.',
    ' ',
    '\n',
    '\t',
    '"',
    '\\',
    ']',
    'ä',
    'é',
    '東',
    '😀',
    '\u2028',
    '_',
  ];
  for (const [at, pattern] of PATTERNS.entries()) {
    const accepts = matcher(schemaGrammar({ type: 'string', pattern }, 'schema'));
    let expression: RegExp;
    try {
      expression = new RegExp(pattern, 'u');
    } catch {
      expression = new RegExp(pattern);
    }
    const next = random(at);
    const some = Array.from({ length: 400 }, () => {
      // Of few letters, so that many of them are found.
      const of = letters.slice(0, next() < 0.5 ? 4 : letters.length);
      return Array.from({ length: Math.floor(next() * 6) }, () => of[Math.floor(next() * of.length)]!).join('');
    });
    const wrong = ['', ...letters, ...some].filter((text) => accepts(JSON.stringify(text)) !== expression.test(text));
    expect(wrong, pattern).toEqual([]);
  }
});

test('what is not applied is refused by name', () => {
  const refused: readonly (readonly [schema: object, words: string])[] = [
    [{ type: 'object', dependentRequired: { a: ['b'] } }, 's.dependentRequired: this keyword is not supported'],
    [{ type: 'object', unevaluatedProperties: false }, 's.unevaluatedProperties: this keyword is not supported'],
    [{ type: 'array', contains: {} }, 's.contains: this keyword is not supported'],
    [{ $dynamicRef: '#a' }, 's.$dynamicRef: this keyword is not supported'],
    [{ type: 'string', format: 'jwt' }, 's.format: "jwt" is not supported without a pattern'],
    [{ type: 'string', contentEncoding: 'base16' }, 's.contentEncoding: "base16" is not supported'],
    [{ type: 'string', pattern: '(' }, 's.pattern: Invalid regular expression'],
    [{ type: 'string', pattern: 7 }, 's.pattern: expected a regular expression, got 7'],
    [{ type: 'string', pattern: '(a)\\1' }, 'has \\1, which is not supported'],
    [{ type: 'string', pattern: '\\bword' }, 'has \\b, which is not supported'],
    [{ type: 'string', pattern: '(?<=a)b' }, 'has a group of this kind, which is not supported'],
    [{ type: 'string', pattern: '\\p{L}' }, 'has \\p, which is not supported'],
    [{ type: 'string', pattern: 'a^b' }, 'has an anchor inside'],
    [{ type: 'string', pattern: '((?=a).)*' }, 'has a lookahead in a repetition'],
    [{ type: 'string', pattern: '(?:'.repeat(60) + ')'.repeat(60) }, 'has more than 50 groups'],
    [{ type: 'string', pattern: 'a'.repeat(5001) }, 'has more than 5000 characters'],
    [{ type: 'string', pattern: '^a{20000}$' }, 'has more than 10000 repetitions'],
    [{ type: 'string', pattern: '^ab$', maxLength: 1 }, 's: no text fits its pattern, format and length'],
    [
      { type: 'string', pattern: '^(?:[ab]*a[ab]{20}){2}$' },
      's: comparing its patterns, formats and lengths takes too long',
    ],
    [{ type: 'number', multipleOf: 0 }, 's.multipleOf: expected a number above 0, got 0'],
    [{ type: 'number', multipleOf: 0.123456789 }, 's.multipleOf: 0.123456789 has too many digits'],
    [{ type: 'integer', multipleOf: 7, minimum: 1, maximum: 6 }, 's: no multiple of 7'],
    [{ oneOf: [{ type: 'string' }, { minLength: 1 }] }, 's.oneOf: a value may fit both [0] and [1]'],
    [
      {
        oneOf: [
          { type: 'object', properties: { a: {} } },
          { type: 'object', properties: { a: { type: 'null' } } },
        ],
      },
      's.oneOf: a value may fit both [0] and [1]',
    ],
    // What is said beside it counts for both.
    [
      {
        type: 'object',
        properties: { b: {} },
        oneOf: [{ properties: { a: {} }, required: ['a'] }, { required: ['b'] }],
      },
      's.oneOf: a value may fit both [0] and [1]',
    ],
    [{ properties: { a: { enum: [{}, 1], properties: { b: { $ref: '#' } } } } }, 'A JSON Schema that contains itself'],
    [{ type: 'array', items: { $ref: '#' }, uniqueItems: true }, 'A JSON Schema that contains itself'],
    [{ not: { minLength: 2 } }, 's.not: only { "type": … } is supported in it'],
    [{ type: 'number', not: { type: 'integer' } }, 's.not: only { "type": … } is supported in it'],
    [{ not: {} }, 's: no value fits it'],
    [{ allOf: [{ type: 'string' }, { type: 'null' }] }, 's: no value fits all of its schemas'],
    [{ allOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, 's: two of its schemas have multipleOf'],
    [{ type: 'string', anyOf: [{ type: 'null' }, { enum: [] }] }, 's.anyOf: no value fits any of them'],
    [{ type: 'array', items: { type: 'object' }, uniqueItems: true }, 's.uniqueItems: it is supported for strings'],
    [{ type: 'array', items: { type: 'boolean' }, uniqueItems: true, minItems: 3 }, 'tells only 2 items apart'],
    [
      { type: 'array', prefixItems: [{}, {}], uniqueItems: true },
      's.uniqueItems: it is not supported beside prefixItems',
    ],
    [{ type: 'object', propertyNames: { anyOf: [{}] } }, 's.propertyNames.anyOf: this keyword is not supported here'],
    [{ type: 'object', additionalProperties: {}, minProperties: 2 }, 's: no object has so few or so many properties'],
    [{ type: 'object', maxProperties: 1e6, minProperties: 1 }, 'minProperties and maxProperties are supported up to'],
    [{ type: 'object', properties: { a: false }, required: ['a'] }, 's.required: the rest of the schema allows no'],
    [{ $ref: '#none' }, 's.$ref: the schema has no #none'],
  ];
  for (const [schema, words] of refused)
    expect(() => schemaGrammar(schema, 's'), JSON.stringify(schema)).toThrow(
      expect.objectContaining({ code: 'invalid-input', message: expect.stringContaining(words) as unknown }),
    );
});

test('a schema that doubles where it is merged ends in an error', () => {
  const both = (level: number): object => ({ allOf: [{ $ref: `#/$defs/a${level}` }, { $ref: `#/$defs/b${level}` }] });
  const levels = Array.from({ length: 40 }, (_, level) => level);
  const ofLevel = (name: string): object =>
    Object.fromEntries(
      levels.map((level) => [
        `${name}${level}`,
        level === 39
          ? { type: 'null' }
          : {
              type: 'object',
              properties: Object.fromEntries(['x', 'y'].map((key) => [key, { $ref: `#/$defs/${name}${level + 1}` }])),
            },
      ]),
    );
  const schema = { ...both(0), $defs: { ...ofLevel('a'), ...ofLevel('b') } };
  expect(() => schemaGrammar(schema, 's')).toThrow(
    expect.objectContaining({
      code: 'invalid-input',
      message: expect.stringContaining('more than 40000 schemas') as unknown,
    }),
  );
});
