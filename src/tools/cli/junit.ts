import type { BackendVerdict } from '../testing/verdict.js';

/** A test case: a backend, or the archive as a whole. */
export interface JUnitCase {
  readonly name: string;
  readonly verdict: BackendVerdict;
  readonly reason: string;
  readonly seconds: number;
  /** Printed with the case. */
  readonly output: string;
}

/** The element of each verdict. */
const ELEMENTS = { right: undefined, wrong: 'failure', failed: 'error', skipped: 'skipped' } as const;

/**
 * Writes test cases as JUnit XML, in the form that Jenkins, GitLab and GitHub's reporters read
 * (github.com/testmoapp/junitxml). A wrong result is a `failure`; any other problem is an `error`.
 * @param suite the archive's name
 */
export function writeJUnit(suite: string, cases: readonly JUnitCase[]): string {
  const count = (verdict: BackendVerdict): number => cases.filter((one) => one.verdict === verdict).length;
  const time = cases.reduce((sum, { seconds }) => sum + seconds, 0).toFixed(3);
  const totals = `tests="${cases.length}" failures="${count('wrong')}" errors="${count('failed')}" skipped="${count('skipped')}" time="${time}"`;
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites ${totals}>`,
    `  <testsuite name="${escape(suite)}" ${totals}>`,
    ...cases.flatMap((one) => testCase(suite, one)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

function testCase(suite: string, { name, verdict, reason, seconds, output }: JUnitCase): string[] {
  const element = ELEMENTS[verdict];
  return [
    `    <testcase classname="${escape(suite)}" name="${escape(name)}" time="${seconds.toFixed(3)}">`,
    ...(element ? [`      <${element} message="${escape(reason)}"/>`] : []),
    `      <system-out>${escape(output)}</system-out>`,
    '    </testcase>',
  ];
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  // An attribute's line breaks and tabs would become spaces.
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/**
 * Escapes text for an element or an attribute. What XML 1.0 does not allow, such as control characters and halves of
 * surrogate pairs, becomes U+FFFD.
 */
function escape(text: string): string {
  return text
    .replace(/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"\n\r\t]/g, (one) => ENTITIES[one]!);
}
