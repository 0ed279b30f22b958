import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/**
 * Deletes the docblocks of the modules: those of public names are in the declarations, where editors look for them, and
 * the others in the repository.
 * @param {string} dist
 */
export function deleteDocblocks(dist) {
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue;
    const code = readFileSync(`${dist}/${path}`, 'utf8');
    const { comments } = parseSync(path, code);
    const docblocks = comments.filter(({ type, value }) => type === 'Block' && value.startsWith('*'));
    let module = code;
    for (const { start, end } of docblocks.toReversed())
      module = module.slice(0, start).replace(/[ \t]*$/, '') + module.slice(end).replace(/^\r?\n/, '');
    if (docblocks.length > 0) writeFileSync(`${dist}/${path}`, module);
  }
}
