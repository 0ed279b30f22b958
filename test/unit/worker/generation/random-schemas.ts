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
    () => ({ type: 'number', minimum: -1.25, exclusiveMaximum: 0.1 + below(3) }),
    () => ({ type: 'integer', multipleOf: 1 + below(30), minimum: 0, maximum: 1000 }),
    () => ({ type: 'number', multipleOf: 0.25, exclusiveMinimum: 0, maximum: 1 + below(50) }),
    () => ({ type: 'string', pattern: ['^[A-Z]{2}-\\d{3}$', '^(?:ä|bc|[^d\\s]){1,4}$', '^x?$'][below(3)] }),
    () => ({ type: 'string', pattern: '^(?!.*00)(?=.*[a-c])[a-f0-9]+$', maxLength: 1 + below(8) }),
    () => ({ type: 'string', format: ['date', 'time', 'uuid', 'ipv4'][below(4)] }),
    () => ({ enum: [-3, 'red', 12, 'blue', null], minimum: below(20), minLength: 4, type: ['number', 'string'] }),
    () => ({ type: ['boolean', 'null', 'integer'], not: { type: 'null' }, minimum: 7, maximum: 7 }),
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
    () => ({
      oneOf: ['a', 'b'].map((kind) => ({
        type: 'object',
        properties: { kind: { type: 'string', const: kind }, of: inner() },
        required: ['kind'],
        additionalProperties: false,
      })),
    }),
    () => ({
      type: 'object',
      properties: { one: inner() },
      anyOf: [{ required: ['one'] }, { properties: { two: { enum: [2] } }, required: ['two'] }],
    }),
    () => ({
      allOf: [
        { type: 'object', properties: { a: inner(), b: { minimum: 2, maximum: 9 } }, required: ['b'] },
        { type: 'object', properties: { b: { type: 'integer', maximum: 7 } }, maxProperties: 2 },
      ],
    }),
    () => ({
      type: 'object',
      propertyNames: { enum: ['x', 'y', 'z'] },
      additionalProperties: inner(),
      minProperties: below(3),
      maxProperties: 2,
    }),
    () => ({
      type: 'object',
      properties: { id: { const: 1 } },
      patternProperties: { '^[a-c]{2}$': { type: 'boolean' } },
      additionalProperties: false,
      maxProperties: 3,
    }),
    () => ({ type: 'array', items: { type: 'integer', minimum: 0, maximum: 20 }, uniqueItems: true, maxItems: 4 }),
    () => ({ type: 'array', items: { enum: ['a', 'b', 3] }, uniqueItems: true, minItems: below(4) }),
    () => ({
      if: { type: 'array' },
      // oxlint-disable-next-line unicorn/no-thenable
      then: { maxItems: 0 },
      else: { minimum: 5, maximum: 5 },
      type: ['array', 'number'],
    }),
  ];
  const kinds = depth > 0 && random() < 0.75 ? nodes : leaves;
  return kinds[below(kinds.length)]!();
}
