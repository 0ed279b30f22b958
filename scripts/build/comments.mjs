import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { parseSync } from 'oxc-parser';

/**
 * Deletes the comments of the modules, but those that bundlers read: docblocks of public names are in the declarations,
 * where editors look for them, and all others in the repository.
 * @param {string} dist
 */
export function deleteComments(dist) {
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    if (!path.endsWith('.js')) continue;
    const code = readFileSync(`${dist}/${path}`, 'utf8');
    const { comments } = parseSync(path, code);
    // The first line of a command, which begins with #!, counts as a comment.
    const deleted = comments.filter(({ type, value, start }) =>
      type === 'Block' ? value.startsWith('*') : !/^[#@]/.test(value.trim()) && !code.startsWith('#!', start),
    );
    let module = code;
    for (const { start, end } of deleted.toReversed()) {
      const before = module.slice(0, start).replace(/[ \t]*$/, '');
      const after = module.slice(end);
      // The end of a line belongs to the code before the comment, if there is any.
      module = before + (/(^|\n)$/.test(before) ? after.replace(/^\r?\n/, '') : after);
    }
    if (deleted.length > 0) writeFileSync(`${dist}/${path}`, module);
  }
}
