import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/**
 * Deletes from the modules the docblocks that their declarations have, which lie beside them: each is in the package
 * once. Those of what no declaration names stay.
 * @param {string} dist
 */
export function deleteRepeatedDocblocks(dist) {
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const declarations = `${dist}/${path.replace(/\.js$/, '.d.ts')}`;
    if (!path.endsWith('.js') || !existsSync(declarations)) continue;
    const told = new Set(docblocksOf(declarations).map(({ text }) => text));
    const repeated = docblocksOf(`${dist}/${path}`).filter(({ text }) => told.has(text));
    let module = readFileSync(`${dist}/${path}`, 'utf8');
    for (const { start, end } of repeated.toReversed())
      module = module.slice(0, start).replace(/[ \t]*$/, '') + module.slice(end).replace(/^\r?\n/, '');
    if (repeated.length > 0) writeFileSync(`${dist}/${path}`, module);
  }
}

/** Returns a file's docblocks, and where they are. White space does not count: both have an indentation of their own. */
function docblocksOf(path) {
  const { comments } = parseSync(path, readFileSync(path, 'utf8'));
  return comments
    .filter(({ type, value }) => type === 'Block' && value.startsWith('*'))
    .map(({ value, start, end }) => ({ text: value.replace(/\s+/g, ' '), start, end }));
}
