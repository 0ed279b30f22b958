import { expect, test } from '@playwright/test';
import { chosenProjects } from '../../../scripts/tests/chosen-projects.ts';

const cases: readonly [line: string, chosen: readonly string[] | undefined][] = [
  ['', undefined],
  ['test/unit/contract -g --reporter=line', undefined],
  ['--project=unit', ['unit']],
  ['--project=unit test/unit/contract', ['unit']],
  ['--project unit node -g text', ['unit', 'node']],
  ['test/unit --project=unit --retries 1 --project node', ['unit', 'node']],
];

for (const [line, chosen] of cases)
  test(`the projects that \`playwright test ${line}\` chooses: ${chosen?.join(', ') ?? 'all'}`, () => {
    expect(chosenProjects(line.split(' '))).toEqual(chosen);
  });
