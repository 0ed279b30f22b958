// Makes docs/model-config.schema.json, and the tables of keys in docs/model-config.md, from the handler classes' own schemas.
// Run it after every change of a schema: `node scripts/config-docs.mjs`; a unit test compares.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const SCHEMA = new URL('../docs/model-config.schema.json', import.meta.url);
const PAGE = new URL('../docs/model-config.md', import.meta.url);
const SOURCES = {
  registry: 'handlers/registry',
  config: 'handlers/config',
  schema: 'shared/schema',
  models: 'models/config',
  transforms: 'transforms/transforms-schema',
};

/** The handler classes by name. */
async function classes({ loadHandler, HANDLER_NAMES }) {
  return Object.fromEntries(await Promise.all(HANDLER_NAMES.map(async (name) => [name, await loadHandler(name)])));
}

export async function configSchema({ registry, config, models, transforms }) {
  const section = (properties, description) => ({
    type: 'object',
    description,
    properties,
    additionalProperties: false,
  });
  const schemas = Object.entries(await classes(registry)).map(([name, handler]) => [name, config.schemaOf(handler)]);
  // A handler's own schema leaves the steps to parseTransforms; an editor can complete them.
  const steps = {
    ...transforms.TRANSFORMS_SCHEMA,
    ...schemas.find(([, { imageProcessing }]) => imageProcessing)[1].imageProcessing,
  };
  const detailed = (schema) =>
    schema.imageProcessing ? { ...schema, imageProcessing: { $ref: '#/definitions/imageProcessing' } } : schema;
  const { handler, engine, ...serving } = models.CONFIG_SCHEMA;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'model-config.yaml of TabServe',
    type: 'object',
    properties: {
      handler: {
        description: handler.description,
        anyOf: schemas.map(([name]) => ({ $ref: `#/definitions/${name}` })),
      },
      engine: section(models.ENGINE_SCHEMA, engine.description),
      ...serving,
    },
    definitions: {
      ...Object.fromEntries(schemas.map(([name, schema]) => [name, section(detailed(schema), `handler: of ${name}.`)])),
      imageProcessing: steps,
    },
  };
}

export async function withTables(page, { registry, schema: { expected }, models, transforms }) {
  const own = Object.values(await classes(registry)).map((handler) => [
    handler.name,
    Object.hasOwn(handler, 'schema') ? handler.schema : {},
  ]);
  const steps = transforms.TRANSFORMS_SCHEMA.items.anyOf
    .filter(({ properties }) => properties)
    .map(({ properties }) => Object.entries(properties)[0]);
  const { handler: _handler, engine: _engine, ...serving } = models.CONFIG_SCHEMA;
  const tables = {
    ...Object.fromEntries(own.map(([name, schema]) => [name, keyTable(schema, expected, true)])),
    steps: table(['Step', 'What it does', 'Options'], steps.map(([name, schema]) => [code(name), schema.description, optionsOf(schema, expected)])), // prettier-ignore
    engine: keyTable(models.ENGINE_SCHEMA, expected),
    serving: keyTable(serving, expected),
  };
  return page.replace(/(<!-- keys of (\w+) -->\n)[^]*?(?=<!-- end -->)/g, (_, start, name) => {
    if (!tables[name]) throw new Error(`docs/model-config.md: there are no keys of ${name}.`);
    return `${start}\n${tables[name]}\n\n`;
  });
}

/** Of a handler's keys, a request may give all but the `readOnly` ones. */
function keyTable(schema, expected, ofHandler = false) {
  const rows = keysOf(schema).map(([key, one]) => [
    code(key),
    cell(expected(one)),
    ...(ofHandler ? [key.includes('.') || one.readOnly ? '' : 'yes'] : []),
    [one.description, one.default === undefined ? [] : `Default ${code(JSON.stringify(one.default))}.`]
      .flat()
      .join(' '),
  ]);
  return table(['Key', 'Value', ...(ofHandler ? ['`params`'] : []), 'Meaning'], rows);
}

/** Keys by their full path, those of nested mappings after their own. */
function keysOf(schema, prefix = '') {
  return Object.entries(schema).flatMap(([key, one]) => [
    [prefix + key, one],
    ...keysOf(propertiesOf(one), `${prefix}${key}.`),
  ]);
}

function propertiesOf({ properties, anyOf = [] }) {
  return properties ?? anyOf.find((one) => one.properties)?.properties ?? {};
}

function optionsOf(schema, expected) {
  const properties = Object.entries(propertiesOf(schema));
  return properties.length === 0
    ? cell(expected(schema))
    : properties.map(([name, one]) => `${code(name)}: ${cell(expected(one))}`).join('; ');
}

function table(head, rows) {
  return [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((text) => text.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n');
}

/** A mapping's keys have rows of their own. */
function cell(words) {
  return words.replace(/a mapping with (the keys|one of the keys) [^|]*?(?=, or |$)/g, (_, what) =>
    what === 'the keys' ? 'a mapping' : 'a mapping with one key',
  );
}

function code(text) {
  return `\`${text}\``;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { createServer } = await import('vite');
  const vite = await createServer({
    configFile: false,
    appType: 'custom',
    server: { middlewareMode: true, ws: false },
    optimizeDeps: { noDiscovery: true },
  });
  const modules = Object.fromEntries(
    await Promise.all(
      Object.entries(SOURCES).map(async ([name, path]) => [name, await vite.ssrLoadModule(`/src/${path}.ts`)]),
    ),
  );
  await writeFile(SCHEMA, `${JSON.stringify(await configSchema(modules), null, 2)}\n`);
  await writeFile(PAGE, await withTables(await readFile(PAGE, 'utf8'), modules));
  await vite.close();
}
