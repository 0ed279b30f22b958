/** Keeps the declarations that a user of the package can reach, and deletes the others. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Deletes the declarations that no entry of the package leads to. @param {string} root of the package */
export function deleteUnreachableDeclarations(root) {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const todo = (JSON.stringify(exports).match(/dist\/[^"]*\.d\.ts/g) ?? []).map((entry) => join(root, entry));
  /** @type {Set<string>} */
  const reached = new Set();
  for (let file = todo.pop(); file; file = todo.pop()) {
    if (reached.has(file) || !existsSync(file)) continue;
    reached.add(file);
    // `from '…'`, `import '…'`, and `import('…')` of a type.
    for (const [, target = ''] of readFileSync(file, 'utf8').matchAll(/\b(?:from|import) ?\(?['"](\.[^'"\n]+)['"]/g))
      todo.push(join(dirname(file), target.replace(/\.js$/, '.d.ts')));
  }
  const dist = join(root, 'dist');
  for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('.d.ts') && !reached.has(join(dist, file))) rmSync(join(dist, file));
}
