import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@playwright/test';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
/** Subjects before this commit were longer. */
const FIRST = '761ff8f2dfdebf2409e89a8143b658752788ceae';
const MAX_LENGTH = 72;

test('the subject of a commit has at most 72 characters; the reason is in its body', () => {
  const { status, stdout } = spawnSync('git', ['log', '--no-merges', '--format=%h %s', `${FIRST}..HEAD`], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  test.skip(status !== 0, `this clone lacks the commit ${FIRST}, from which on subjects are checked`);
  const subjects = stdout.split('\n').filter(Boolean);
  expect(subjects.filter((line) => line.length - line.indexOf(' ') - 1 > MAX_LENGTH)).toEqual([]);
});
