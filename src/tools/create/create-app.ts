import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { messageOf, TabServeError } from '../../contract/errors.js';
import { unknownName } from '../cli/flags.js';
import { FRAMEWORKS, TEMPLATE_NAMES, TEMPLATES, type Framework, type TemplateName } from './templates.js';

/** What an app is made of. */
export interface Choice {
  /** The app's folder; the name of its package is that of the folder. */
  readonly folder: string;
  readonly template: TemplateName;
  readonly framework: Framework;
  /** What npm installs as `tabserve`: a version, or the path of a tarball. */
  readonly tabserve: string;
}

/** Where the templates and the models are. */
export interface Sources {
  readonly templates: string;
  readonly models: string;
}

/**
 * Writes the files of an app. Its layers are what all apps have, what those of its framework have, what those of its
 * task have, and what is its own; a later one may replace files. The fields of their `package.json` are joined.
 */
export function createApp({ folder, template, framework, tabserve }: Choice, { templates, models }: Sources): void {
  const name = checkFolder(folder);
  const task = `tasks/${template}`;
  const layers = ['common', `frameworks/${framework}`, `${task}/common`, `${task}/${framework}`];
  makeFolder(folder);
  let manifest: Json = {};
  for (const layer of layers.map((layer) => join(templates, layer)).filter((layer) => existsSync(layer))) {
    cpSync(layer, folder, { recursive: true });
    if (existsSync(join(layer, 'package.json'))) manifest = joinFields(manifest, readJson(join(layer, 'package.json')));
  }
  // npm packs no file of this name.
  renameSync(join(folder, '_gitignore'), join(folder, '.gitignore'));
  const { dependencies = {}, devDependencies, ...others } = manifest as { readonly [field: string]: Json };
  const packages = {
    dependencies: sorted({ ...dependencies, tabserve }),
    devDependencies: sorted(devDependencies ?? {}),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name, ...others, ...packages }, null, 2)}\n`);
  for (const [to, from] of Object.entries(TEMPLATES[template].models))
    cpSync(join(models, from), join(folder, to), { recursive: true });
  for (const file of ['index.html', 'README.md']) {
    const path = join(folder, file);
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('{{title}}', TEMPLATES[template].title));
  }
}

/**
 * Returns the name of a new app's package: that of its folder.
 * @throws `invalid-input` if npm takes no such name, or if the folder has files
 */
export function checkFolder(folder: string): string {
  const name = basename(resolve(folder));
  // https://docs.npmjs.com/cli/configuring-npm/package-json#name
  if (!/^[a-z\d~-][a-z\d._~-]*$/.test(name) || name.length > 214 || name === 'node_modules')
    throw new TabServeError(
      'invalid-input',
      `npm takes no package of the name ${JSON.stringify(name)}. Choose a folder with a name of small letters, digits and hyphens, such as my-app.`,
    );
  const isFile = existsSync(folder) && !statSync(folder).isDirectory();
  if (isFile || (existsSync(folder) && readdirSync(folder).some((file) => file !== '.git')))
    throw new TabServeError(
      'invalid-input',
      `${folder} is ${isFile ? 'a file' : 'a folder that has files'}. Name a new folder, or an empty one.`,
    );
  return name;
}

/** @throws `invalid-input` if the folder cannot be made, such as below a file, or without the right to write */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new TabServeError(
      'invalid-input',
      `${folder} cannot be made: ${messageOf(cause)}. Name a folder that you may write to.`,
      { cause },
    );
  }
}

/** Returns the name of a template. @throws `invalid-input` if there is no such template */
export function checkTemplate(name: string): TemplateName {
  const found = TEMPLATE_NAMES.find((known) => known === name);
  if (found !== undefined) return found;
  throw new TabServeError(
    'invalid-input',
    `${unknownName(name, 'template', TEMPLATE_NAMES)} The templates are ${TEMPLATE_NAMES.join(', ')}.`,
  );
}

/** Returns the name of a framework. @throws `invalid-input` if there are no apps for it */
export function checkFramework(name: string): Framework {
  const found = FRAMEWORKS.find((known) => known === name);
  if (found !== undefined) return found;
  throw new TabServeError(
    'invalid-input',
    `${unknownName(name, 'framework', FRAMEWORKS)} The frameworks are ${FRAMEWORKS.join(', ')}.`,
  );
}

type Json = Readonly<Record<string, unknown>>;

function readJson(path: string): Json {
  return JSON.parse(readFileSync(path, 'utf8')) as Json;
}

/** Orders packages by name, as npm does. */
function sorted(packages: Json): Json {
  return Object.fromEntries(Object.entries(packages).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the fields of both; of a field that both have, such as `dependencies`, those of both again. */
function joinFields(first: Json, second: Json): Json {
  const joined: Record<string, unknown> = { ...first };
  for (const [key, value] of Object.entries(second))
    joined[key] = isObject(value) && isObject(joined[key]) ? joinFields(joined[key], value) : value;
  return joined;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
