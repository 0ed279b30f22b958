/**
 * Makes the package `create-tabserve`: `node scripts/build/create.mjs [FOLDER]` writes it into a folder, by default
 * `dist-create/package`, which npm packs and publishes. It has the command line as one file, the templates, and of the gallery's models those that they use.
 */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';
import { runnerImport } from 'vite';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Fields that both packages have. */
const SHARED = new Set(['version', 'license', 'author', 'engines']);

/** Writes the package's folder. @param {string} folder */
export async function buildCreate(folder) {
  rmSync(folder, { recursive: true, force: true });
  await build({
    input: `${root}src/tools/create/main.ts`,
    platform: 'node',
    output: { file: join(folder, 'main.js'), format: 'esm' },
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    logLevel: 'warn',
  });
  cpSync(`${root}examples/templates`, join(folder, 'templates'), { recursive: true });
  cpSync(`${root}examples/templates/README.md`, join(folder, 'README.md'));
  rmSync(join(folder, 'templates/README.md'));
  cpSync(`${root}LICENSE`, join(folder, 'LICENSE'));
  await copyModels(join(folder, 'models'));
  const own = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  const manifest = {
    name: 'create-tabserve',
    description: 'Makes an app that runs a model on its visitors’ devices: npm create tabserve@latest',
    type: 'module',
    bin: { 'create-tabserve': 'main.js' },
    files: ['main.js', 'models', 'templates'],
    // Nothing of it is to be imported.
    exports: { './package.json': './package.json' },
    ...Object.fromEntries(Object.entries(own).filter(([field]) => SHARED.has(field))),
  };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Copies the models that the templates name, whole: the repository leaves out what npm packages ship. */
async function copyModels(folder) {
  const load = async (file) => (await runnerImport(root + file, { configFile: false, logLevel: 'error' })).module;
  const { TEMPLATES } = await load('src/tools/create/templates.ts');
  const { packagedFiles } = await load('scripts/vite/packaged-models.ts');
  const wanted = new Set(Object.values(TEMPLATES).flatMap(({ models }) => Object.values(models)));
  mkdirSync(folder, { recursive: true });
  for (const path of wanted) cpSync(`${root}public/models/${path}`, join(folder, path), { recursive: true });
  for (const [path, file] of Object.entries(packagedFiles())) {
    const own = path.replace(/^\/models\//, '');
    if (wanted.has(own.split('/')[0])) cpSync(file, join(folder, own));
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await buildCreate(process.argv[2] ?? `${root}dist-create/package`);
