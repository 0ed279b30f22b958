/**
 * Makes files that import nothing of the lazy scripts of the built-in worker, and has the first script load them by
 * their URLs, as it loads libraries: a bundler copies such a file as it is, also one that bundles a worker into one
 * script, as Vite does by default. A part gets what it uses of the first script, and of other parts, as arguments of
 * its function `link`. The names of files are in the first script only, because a bundler reads no file that it copies.
 */
import { basename } from 'node:path';

/** The first script. Others may not have `import` or `export` left, nor the URL of a file. */
const FIRST = 'base';
/** Rolldown's helpers, which the first script imports. */
const HELPERS = 'rolldown-runtime';
/**
 * Vite puts smaller files into the script that names them, as `data:` URLs, which many pages do not allow. A smaller
 * part is padded with spaces, which compress to nothing.
 */
const MIN_BYTES = 4096;

/** Returns Rolldown's output plugin. */
export function linkParts() {
  /** @type {Map<string, readonly string[]>} */
  const parts = new Map();
  return {
    name: 'tabserve:link-parts',
    /** @param {unknown} _options @param {Record<string, { code: string }>} bundle */
    generateBundle(_options, bundle) {
      for (const [file, chunk] of Object.entries(bundle))
        if (parts.has(nameOf(file))) chunk.code = chunk.code.padEnd(MIN_BYTES);
    },
    renderChunk: {
      order: /** @type {const} */ ('post'),
      /**
       * @param {string} code
       * @param {{ readonly name: string, readonly isEntry: boolean, readonly imports: readonly string[] }} chunk
       * @param {unknown} _options
       * @param {{ readonly chunks: Record<string, { readonly name: string, readonly isEntry: boolean, readonly imports: readonly string[] }> }} meta
       */
      handler(code, chunk, _options, { chunks }) {
        if (chunk.isEntry || chunk.name === HELPERS) return undefined;
        if (chunk.name !== FIRST) return { code: linked(code, chunk.name) };
        for (const { name, isEntry, imports } of Object.values(chunks)) {
          if (!isEntry && name !== FIRST && name !== HELPERS)
            parts.set(
              name,
              imports.map(nameOf).filter((one) => one !== FIRST),
            );
        }
        checkOrder(parts);
        return { code: loadsParts(code, parts) };
      },
    },
  };
}

/**
 * Checks that no two parts use each other, by whatever way: a part is linked after those that it uses.
 * @param {ReadonlyMap<string, readonly string[]>} parts the parts that each part uses
 * @throws for parts that do
 */
function checkOrder(parts) {
  /** @param {string} name @param {readonly string[]} users */
  const visit = (name, users) => {
    if (users.includes(name))
      throw new Error(
        `Parts of the worker use each other: ${[...users.slice(users.indexOf(name)), name].join(' > ')}. Name the script of a module that they share in src/tools/vite/worker-scripts.ts.`,
      );
    for (const used of parts.get(name) ?? []) visit(used, [...users, name]);
  };
  for (const name of parts.keys()) visit(name, []);
}

/** @param {string} file */
function nameOf(file) {
  return basename(file, '.js');
}

/**
 * Returns the first script with `loadPart` in place of `import()`.
 * @param {string} code
 * @param {ReadonlyMap<string, readonly string[]>} parts the parts that each part uses
 */
function loadsParts(code, parts) {
  const [, names] = exportsOf(code, FIRST);
  const files = [...parts].map(
    ([name, uses]) =>
      `${JSON.stringify(name)}: [() => new URL('./${name}.js', import.meta.url), ${JSON.stringify(uses)}]`,
  );
  return `${loading(code)}
import * as helpers from './${HELPERS}.js';
const firstScript = { ${names} };
const partFiles = { ${files.join(', ')} };
const loadedParts = { '${HELPERS}': Promise.resolve(helpers) };
function loadPart(name) {
  if (name === '${FIRST}') return Promise.resolve(firstScript);
  const loading = (loadedParts[name] ??= linkPart(...partFiles[name], name + '.js'));
  loading.catch(() => delete loadedParts[name]);
  return loading;
}
async function linkPart(url, uses, file) {
  const [{ link }, ...others] = await Promise.all([importFile(file, url(), 'link'), ...uses.map(loadPart)]);
  return link(firstScript, loadPart, ...others);
}
`;
}

/**
 * Returns a part as a function of the scripts that it imports.
 * @param {string} code
 * @param {string} name
 */
function linked(code, name) {
  const [exported, names] = exportsOf(code, name);
  const others = [];
  let body = code.replace(exported, () => `return { ${names} };`);
  body = body.replace(/^import \{([^}]*)\} from "\.\/([\w-]+)\.js";/gm, (_, bindings, other) => {
    if (other !== FIRST) others.push(variable(other));
    return `const {${bindings.replaceAll(' as ', ': ')}} = ${variable(other)};`;
  });
  body = loading(body);
  const left = /^(import|export) .*|import\.meta.*|\bimport\(.*/m.exec(body);
  if (left) throw new Error(`The worker's part ${name} cannot be linked: ${left[0]}`);
  const head = `export const link = (${[variable(FIRST), 'loadPart', ...others].join(', ')}) => {`;
  return `${head} ${body}\n};\n`;
}

/** @param {string} name */
function variable(name) {
  return `script_${name.replaceAll('-', '_')}`;
}

/** @param {string} code */
function loading(code) {
  return code.replace(/\bimport\("\.\/([\w-]+)\.js"\)/g, (_, name) => `loadPart("${name}")`);
}

/**
 * Returns the statement that exports, and the members of an object with the same names.
 * @param {string} code
 * @param {string} name
 * @returns {[statement: string, names: string]}
 */
function exportsOf(code, name) {
  const [statement, names] = /^export \{([^}]*)\};/m.exec(code) ?? [];
  if (!statement || names === undefined) throw new Error(`The worker's script ${name} exports nothing.`);
  const members = names.split(',').map((one) => one.trim().split(' as '));
  return [statement, members.map(([local, exported = local]) => `${exported}: ${local}`).join(', ')];
}
