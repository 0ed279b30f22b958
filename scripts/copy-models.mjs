/**
 * `npm run models FOLDER [MODEL…]` copies the gallery's models, or the named ones, to a folder of an app, whole: the
 * repository leaves out what npm packages ship.
 */
import { cpSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [folder, ...names] = process.argv.slice(2);
if (!folder) {
  console.error(
    "Name the folder that gets the models: npm run models APP/public/models, with your app's folder for APP.",
  );
  process.exit(1);
}
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { module } = await runnerImport(here('vite/packaged-models.ts'), { configFile: false, logLevel: 'error' });
const all = readdirSync(here('../public/models'));
const unknown = names.find((name) => !all.includes(name));
if (unknown !== undefined) {
  console.error(`There is no model ${unknown}. There are ${all.join(', ')}.`);
  process.exit(1);
}
const isWanted = (path) => names.length === 0 || names.includes(path.split('/')[0]);
for (const name of all)
  if (isWanted(name)) cpSync(here(`../public/models/${name}`), join(folder, name), { recursive: true });
for (const [path, file] of Object.entries(module.packagedFiles())) {
  const own = path.replace(/^\/models\//, '');
  if (isWanted(own)) cpSync(file, join(folder, own));
}
console.log(`The models are in ${resolve(folder)}.`);
