/**
 * JSON Schemas at random, with any of the keywords that are supported. Every value that fits one is short, so that an
 * answer comes to its end.
 */
type Schema = Readonly<Record<string, unknown>>;

const NAMES = ['name', 'a', 'ab', 'naïve', 'a"b', '数', 'kind', 'x y', ''];
const VALUES: readonly unknown[] = [
  'red',
  'a "quoted"\nline',
  '東京',
  0,
  -12.5,
  true,
  null,
  [1, 'two'],
  { a: { b: [] } },
];

/** @param random returns numbers in 0..1 */
export function randomSchema(random: () => number, depth = 2): Schema {
  const below = (count: number): number => Math.floor(random() * count);
  const some = <Item>(items: readonly Item[], most: number): readonly Item[] => {
    const start = below(items.length);
    return [...items.slice(start), ...items.slice(0, start)].slice(0, below(most + 1));
  };
  const inner = (): Schema => randomSchema(random, depth - 1);
  const leaves = [
    () => ({ type: 'string', minLength: below(3), maxLength: 2 + below(4) }),
    () => ({ type: 'integer', minimum: below(400) - 300, maximum: 100 + below(20_000) }),
    () => ({ type: 'integer', exclusiveMinimum: -below(30) - 0.5, exclusiveMaximum: 1 + below(3) }),
    () => ({ type: 'number', minimum: -below(3), maximum: 1 + below(100) }),
    () => ({ type: 'number', exclusiveMinimum: -below(12), exclusiveMaximum: below(2) }),
    () => ({ type: ['number', 'null'], minimum: 0 }),
    () => ({ type: 'number' }),
    () => ({ type: ['boolean', 'null'], title: 'Either' }),
    () => ({ enum: some(VALUES, VALUES.length).concat(['always']) }),
    () => ({ type: 'string', enum: ['red', 3, '緑'] }),
    () => ({ const: VALUES[below(VALUES.length)] }),
  ];
  const nodes = [
    () => {
      const names = some(NAMES, 4);
      return {
        type: 'object',
        properties: Object.fromEntries(names.map((name) => [name, inner()])),
        required: some(names, names.length),
        ...(random() < 0.5 && { additionalProperties: false }),
      };
    },
    () => ({ properties: { one: inner() }, required: ['one'], type: ['object', 'null'] }),
    () => ({ type: 'array', items: inner(), minItems: below(3), maxItems: 2 }),
    () => ({ type: 'array', prefixItems: [inner(), inner()], items: inner(), minItems: below(4), maxItems: 3 }),
    () => ({ type: 'array', prefixItems: [inner(), inner()], items: false, minItems: below(3) }),
    () => ({ anyOf: [inner(), inner()], description: 'One of two' }),
    () => ({ allOf: [inner()] }),
  ];
  const kinds = depth > 0 && random() < 0.75 ? nodes : leaves;
  return kinds[below(kinds.length)]!();
}
