/** The linter's rule for imports between the rooms of `src`. The table is in `rooms.mjs`. */
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOMS, roomOf, violation } from './rooms.mjs';

const SRC = fileURLToPath(new URL('../../src/', import.meta.url));
const RESTRICTED = [...new Set(Object.values(ROOMS).flatMap(({ packages = [] }) => packages))];

const rooms = {
  create(context) {
    const from = relative(SRC, context.filename).replaceAll('\\', '/');
    if (from.startsWith('..')) return {};

    const check = (source, how) => {
      const path = source?.type === 'TemplateLiteral' ? source.quasis[0].value.cooked : source?.value;
      if (typeof path !== 'string') return;
      const message = path.startsWith('.')
        ? violation(from, relative(SRC, resolve(dirname(context.filename), path)).replaceAll('\\', '/'), how)
        : packageViolation(from, path);
      if (message) context.report({ node: source, message });
    };
    return {
      ImportDeclaration: ({ source, importKind }) => check(source, importKind === 'type' ? 'type' : 'value'),
      ExportNamedDeclaration: ({ source, exportKind }) => check(source, exportKind === 'type' ? 'type' : 'value'),
      ExportAllDeclaration: ({ source, exportKind }) => check(source, exportKind === 'type' ? 'type' : 'value'),
      ImportExpression: ({ source }) => check(source, 'lazy'),
      TSImportType: ({ source, argument }) => check(source ?? argument?.literal ?? argument, 'type'),
    };
  },
};

/** @returns {string | undefined} */
function packageViolation(from, name) {
  const restricted = RESTRICTED.find((one) => name === one || name.startsWith(`${one}/`));
  if (restricted === undefined || ROOMS[roomOf(from)]?.packages?.includes(restricted)) return undefined;
  return `Only worker/engines and worker/libraries import ${restricted}.`;
}

export default { meta: { name: 'tabserve' }, rules: { rooms } };
