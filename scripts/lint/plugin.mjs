/** The linter's rules of this project: imports between the rooms of `src`, whose table is in `rooms.mjs`; expectations. */
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

/** Playwright's `toMatchObject` takes any text for a regular expression: the expectation could not fail. */
const expectations = {
  create(context) {
    const check = (node) => {
      if (node?.type === 'Literal' && node.regex)
        context.report({
          node,
          message: 'A regular expression checks no text here. Wrap it: expect.stringMatching(…).',
        });
      else if (node?.type === 'ObjectExpression') for (const { value } of node.properties) check(value);
      else if (node?.type === 'ArrayExpression') for (const element of node.elements) check(element);
    };
    return {
      CallExpression({ callee, arguments: given }) {
        if (callee.type === 'MemberExpression' && callee.property.name === 'toMatchObject')
          for (const one of given) check(one);
      },
    };
  },
};

export default { meta: { name: 'tabserve' }, rules: { expectations, rooms } };
