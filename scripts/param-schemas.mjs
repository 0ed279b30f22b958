// Makes the schemas of params and of keys of `handler:` from their types: what a docblock says in words is its
// description, and its tags are keywords of JSON Schema. `schemas.ts` of a folder has them without descriptions, which
// no visitor needs; the docs have all.
//
// A class names its types: `declare readonly paramsType?: P` for what a request may set, and
// `declare readonly configType?: C` for what only the config sets. A class has the members that its base class's types
// do not have. In types: literals are `enum`, `readonly T[]` an array, a tuple an array of that length, a union `anyOf`,
// an interface an object, `Record<string, T>` an object of any keys, `OneOf<T>` an object with one key of T.
// `@schema` stands for what a type cannot say, `@integer` for whole numbers.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Validator } from '@cfworker/json-schema';
import { format } from 'oxfmt';
// TypeScript 7 has no such API yet.
import ts from 'typescript-5.9';

const ROOT = fileURLToPath(new URL('../', import.meta.url));
const WORKER = `${ROOT}src/worker/`;
/** Types that no class names, and in which folder their schemas are. */
const OTHERS = [{ file: 'src/contract/archive.ts', type: 'EngineOptions', folder: 'models' }];
/** Where the tables of settings are. */
const SETTINGS = ['src/contract/settings.ts', 'src/worker/models/config.ts'];
const KEYWORDS = new Set([
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'minItems',
  'maxItems',
  'minLength',
  'minProperties',
  'maxProperties',
  'additionalProperties',
  'items',
  'default',
]);

/**
 * Returns the sources of `schemas.ts` by their paths, and the schemas with descriptions by the names of the classes;
 * those of `explain` by the names of their types.
 */
export async function paramSchemas() {
  const files = ['handlers', ...foldersOf('tasks')].flatMap((folder) =>
    readdirSync(`${WORKER}${folder}`)
      .filter((file) => file.endsWith('.ts'))
      .map((file) => ({ folder, file: `${WORKER}${folder}/${file}` })),
  );
  const program = ts.createProgram([...files.map(({ file }) => file), ...OTHERS.map(({ file }) => ROOT + file)], {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    noEmit: true,
    types: [],
  });
  const reader = new Reader(program.getTypeChecker());
  const schemas = files.flatMap(({ folder, file }) =>
    program
      .getSourceFile(file)
      .statements.filter((node) => ts.isClassDeclaration(node) && node.name)
      .flatMap((node) => reader.ofClass(node).map((one) => ({ folder, ...one }))),
  );
  for (const { file, type, folder } of OTHERS)
    schemas.push({ folder, ...reader.ofType(program.getSourceFile(ROOT + file), type) });
  const sources = {};
  const options = JSON.parse(readFileSync(`${ROOT}.oxfmtrc.json`, 'utf8'));
  for (const folder of [...new Set(schemas.map((one) => one.folder))].toSorted()) {
    const own = [...new Map(schemas.filter((one) => one.folder === folder).map((one) => [one.constant, one])).values()];
    const path = `src/worker/${folder}/schemas.ts`;
    const up = '../'.repeat(folder.split('/').length + 1);
    const text = `/** The schemas of params and of the config's keys: made from their types by \`npm run generate\`. */
import type { ConfigSchema } from '${up}shared/schema.js';

${own.map(({ constant, schema }) => `export const ${constant}: ConfigSchema = ${JSON.stringify(bare(schema))};`).join('\n\n')}
`;
    sources[path] = (await format(path, text, options)).code;
  }
  return { sources, described: Object.fromEntries(schemas.map(({ name, schema }) => [name, schema])) };
}

/** Returns what the docblocks of settings say, by the settings' names. */
export function settingTexts() {
  const texts = {};
  const visit = (node) => {
    const text = ts.isPropertyAssignment(node) && docblockOf(node).text;
    if (text) texts[node.name.getText()] = text;
    ts.forEachChild(node, visit);
  };
  for (const path of SETTINGS)
    visit(ts.createSourceFile(path, readFileSync(ROOT + path, 'utf8'), ts.ScriptTarget.ES2022, true));
  return texts;
}

function foldersOf(room) {
  return readdirSync(WORKER + room, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => `${room}/${name}`)
    .toSorted();
}

/** Returns a schema, or schemas by key, without descriptions. */
function bare(value, isNames = true) {
  if (Array.isArray(value)) return value.map((one) => bare(one, false));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, one]) => {
      if (!isNames && key === 'description') return [];
      return [[key, !isNames && (key === 'default' || key === 'enum') ? one : bare(one, key === 'properties')]];
    }),
  );
}

function constantOf(name) {
  return `${name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, '_').toUpperCase()}_SCHEMA`;
}

class Reader {
  #checker;

  constructor(checker) {
    this.#checker = checker;
  }

  /** Returns the schemas of a class: its own keys, and the options of `explain`. */
  ofClass(node) {
    const own = this.#membersOf(node, ['paramsType', 'configType']);
    const inherited = new Set(this.#inherited(node).flatMap(({ declarations }) => declarations ?? []));
    const members = own.filter(({ declarations = [] }) => !declarations.some((one) => inherited.has(one)));
    const name = node.name.text;
    const found = members.length > 0 ? [{ name, constant: constantOf(name), schema: this.#properties(members) }] : [];
    const explain = node.members.find((member) => member.name?.getText() === 'explainParamsType')?.type;
    if (!explain || explain.kind === ts.SyntaxKind.ObjectKeyword) return found;
    const type = explain.getText();
    const schema = this.#properties(this.#checker.getPropertiesOfType(this.#checker.getTypeFromTypeNode(explain)));
    return [...found, { name: type, constant: constantOf(type), schema }];
  }

  ofType(source, name) {
    const node = source.statements.find((one) => ts.isInterfaceDeclaration(one) && one.name.text === name);
    const schema = this.#properties(this.#checker.getPropertiesOfType(this.#checker.getTypeAtLocation(node)));
    return { name, constant: constantOf(name), schema };
  }

  #membersOf(node, names) {
    return names.flatMap((name) => {
      const member = node.members.find((one) => one.name?.getText() === name);
      const type = member?.type && this.#checker.getTypeFromTypeNode(member.type);
      if (!type || (name === 'paramsType' && member.type.kind === ts.SyntaxKind.ObjectKeyword)) return [];
      const found = this.#checker.getPropertiesOfType(type);
      for (const one of found) one.isConfig = name === 'configType';
      return found.map((symbol) => Object.assign(Object.create(symbol), { isConfig: name === 'configType' }));
    });
  }

  /** Returns the members of the types that the base classes name. */
  #inherited(node) {
    const base = node.heritageClauses?.find(({ token }) => token === ts.SyntaxKind.ExtendsKeyword)?.types[0];
    const symbol = base && this.#checker.getSymbolAtLocation(base.expression);
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
    const parent = target?.declarations?.find(ts.isClassDeclaration);
    return parent ? [...this.#membersOf(parent, ['paramsType', 'configType']), ...this.#inherited(parent)] : [];
  }

  #properties(symbols) {
    return Object.fromEntries(
      symbols.map((symbol) => {
        const declaration = symbol.declarations[0];
        const schema = this.#described(declaration, declaration.type);
        return [symbol.name, symbol.isConfig ? { ...schema, readOnly: true } : schema];
      }),
    );
  }

  /** Returns the schema of a type, with what the docblock of its declaration says. */
  #described(declaration, type) {
    const where = `${declaration.getSourceFile().fileName.replace(ROOT, '')}: ${declaration.name.getText()}`;
    const { text, tags } = docblockOf(declaration);
    if (!text) throw new Error(`${where} needs a docblock.`);
    if (text.includes('<!--')) throw new Error(`${where}: its docblock goes into the pages, and cannot have "<!--".`);
    try {
      if (!type) throw new Error('only properties can be params.');
      const { schema, integer, ...keywords } = this.#tags(declaration, tags);
      const read = { ...(schema ?? this.#schema(type)), ...(integer && { type: 'integer' }), ...keywords };
      if ('default' in read && !new Validator(read, '7').validate(read.default).valid)
        throw new Error(`@default ${JSON.stringify(read.default)} does not fit its type.`);
      return { ...read, description: text };
    } catch (cause) {
      throw new Error(`${where}: ${cause.message}`, { cause });
    }
  }

  #tags(declaration, tags) {
    const found = {};
    for (const [name, value] of tags) {
      if (name === 'integer') found.integer = true;
      else if (name === 'schema') found.schema = parsed(name, value);
      else if (KEYWORDS.has(name)) found[name] = this.#value(declaration, name, value);
      else
        throw new Error(`@${name} is no tag of a param: there are ${['integer', 'schema', ...KEYWORDS].join(', ')}.`);
    }
    return found;
  }

  /** Returns what a tag says: JSON, or the value of a constant of its file. */
  #value(declaration, name, text) {
    if (!/^[A-Z]\w*$/.test(text)) return parsed(name, text.replaceAll("'", '"'));
    const symbol = this.#checker
      .getSymbolsInScope(declaration, ts.SymbolFlags.Variable | ts.SymbolFlags.Alias)
      .find(({ name }) => name === text);
    const type = symbol && this.#checker.getTypeOfSymbolAtLocation(symbol, declaration);
    if (typeof type?.value !== 'number') throw new Error(`${text} is no number.`);
    return type.value;
  }

  #schema(node) {
    if (ts.isParenthesizedTypeNode(node)) return this.#schema(node.type);
    if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.ReadonlyKeyword) return this.#schema(node.type);
    if (ts.isArrayTypeNode(node)) {
      const items = this.#schema(node.elementType);
      return { type: 'array', ...(Object.keys(items).length > 0 && { items }) };
    }
    if (ts.isTupleTypeNode(node)) {
      const [first, ...others] = node.elements;
      const items = this.#schema(ts.isNamedTupleMember(first) ? first.type : first);
      return { type: 'array', items, minItems: others.length + 1, maxItems: others.length + 1 };
    }
    if (ts.isTypeLiteralNode(node)) return this.#object(node.members);
    if (ts.isTypeReferenceNode(node)) return this.#reference(node);
    const literals = this.#literals(node);
    if (literals) return { enum: literals };
    if (ts.isUnionTypeNode(node)) {
      // The formatter writes a union of literals without parentheses.
      const strings = node.types.filter((one) => this.#literals(one));
      const all = node.types
        .filter((one) => one === strings[0] || !strings.includes(one))
        .map((one) =>
          one === strings[0] ? { enum: strings.flatMap((each) => this.#literals(each)) } : this.#schema(one),
        );
      const [first, second] = all;
      if (all.length === 2 && second.type === 'null') return { ...first, type: [first.type, 'null'] };
      return all.length === 1 ? first : { anyOf: all };
    }
    if (node.kind === ts.SyntaxKind.UnknownKeyword) return {};
    if (ts.isLiteralTypeNode(node) && ts.isNumericLiteral(node.literal)) return { const: Number(node.literal.text) };
    const names = {
      [ts.SyntaxKind.ObjectKeyword]: 'object',
      [ts.SyntaxKind.BooleanKeyword]: 'boolean',
      [ts.SyntaxKind.NumberKeyword]: 'number',
      [ts.SyntaxKind.StringKeyword]: 'string',
      [ts.SyntaxKind.NullKeyword]: 'null',
    };
    const type =
      names[node.kind] ?? (node.kind === ts.SyntaxKind.LiteralType && node.getText() === 'null' ? 'null' : '');
    if (!type) throw new Error(`no schema for the type ${node.getText()}. Say what it is with @schema and JSON.`);
    return { type };
  }

  /** Returns the values of a literal, or of a union or list of literals; undefined for another type. */
  #literals(node) {
    if (ts.isLiteralTypeNode(node) && ts.isStringLiteral(node.literal)) return [node.literal.text];
    if (ts.isUnionTypeNode(node)) {
      const all = node.types.map((one) => this.#literals(one));
      return all.every(Boolean) ? all.flat() : undefined;
    }
    if (ts.isTypeOperatorNode(node) && node.operator === ts.SyntaxKind.KeyOfKeyword)
      return this.#checker.getPropertiesOfType(this.#checker.getTypeFromTypeNode(node.type)).map(({ name }) => name);
    if (ts.isParenthesizedTypeNode(node)) return this.#literals(node.type);
    if (ts.isIndexedAccessTypeNode(node)) {
      const list = this.#checker.getTypeFromTypeNode(node.objectType);
      const values = this.#checker.isTupleType(list) && this.#checker.getTypeArguments(list).map(({ value }) => value);
      return values && values.every((one) => typeof one === 'string') ? values : undefined;
    }
    if (ts.isTypeReferenceNode(node)) {
      const declaration = this.#declarationOf(node);
      return declaration && ts.isTypeAliasDeclaration(declaration) ? this.#literals(declaration.type) : undefined;
    }
    return undefined;
  }

  #reference(node) {
    const name = node.typeName.getText();
    const [first, second] = node.typeArguments ?? [];
    if (name === 'Readonly') return this.#schema(first);
    if (name === 'Record') {
      const values = this.#schema(second);
      return { type: 'object', ...(Object.keys(values).length > 0 && { additionalProperties: values }) };
    }
    if (name === 'OneOf') {
      const properties = this.#object(this.#declarationOf(first).members).properties;
      return { type: 'object', minProperties: 1, maxProperties: 1, additionalProperties: false, properties };
    }
    const literals = this.#literals(node);
    if (literals) return { enum: literals };
    const declaration = this.#declarationOf(node);
    const isOurs = declaration?.getSourceFile().fileName.startsWith(`${ROOT}src/`);
    if (isOurs && ts.isInterfaceDeclaration(declaration)) return this.#object(declaration.members);
    if (isOurs && ts.isTypeAliasDeclaration(declaration)) {
      const { schema, integer, ...keywords } = this.#tags(declaration, docblockOf(declaration).tags);
      const read = schema ?? this.#schema(declaration.type);
      return { ...read, ...(integer && { type: 'integer' }), ...keywords };
    }
    throw new Error(`no schema for the type ${node.getText()}. Say what it is with @schema and JSON.`);
  }

  #object(members) {
    const required = members.filter(({ questionToken }) => !questionToken).map(({ name }) => name.getText());
    const properties = members.map((one) => [
      one.name.getText(),
      docblockOf(one).text ? this.#described(one, one.type) : this.#schema(one.type),
    ]);
    return {
      type: 'object',
      ...(required.length > 0 && { required }),
      properties: Object.fromEntries(properties),
    };
  }

  #declarationOf(node) {
    const symbol = this.#checker.getSymbolAtLocation(node.typeName);
    const target = symbol && symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol;
    return target?.declarations?.[0];
  }
}

/** Returns the JSON of a tag. */
function parsed(name, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`@${name} must be followed by JSON, not by ${text === '' ? 'nothing' : text}.`);
  }
}

/** Returns the words of a docblock in one line, and its tags. */
function docblockOf(declaration) {
  const words = (comment) => (ts.getTextOfJSDocComment(comment) ?? '').replace(/\s*\n\s*/g, ' ').trim();
  const blocks = declaration.jsDoc ?? [];
  const block = blocks.at(-1);
  return {
    text: block ? words(block.comment) : '',
    tags: (block?.tags ?? []).map((tag) => [tag.tagName.text, words(tag.comment)]),
  };
}
