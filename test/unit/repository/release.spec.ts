import { readFileSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { repositoryOf, withRepository } from '../../../scripts/release/repository.mjs';
import { changesOf, obstacles, releasedChangelog, withVersion } from '../../../scripts/release/texts.mjs';

const text = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

const CHANGELOG = `# Changelog

No version is published yet.

## 1.1.0 (unreleased)

**New.** A thing.

## 1.0.0 (2026-01-02)

The first.
`;

test('a release gives its section of the changelog a day, and a second run changes nothing', () => {
  const released = releasedChangelog(CHANGELOG, '1.1.0', '2026-02-03');
  expect(released).toBe(
    '# Changelog\n\n## 1.1.0 (2026-02-03)\n\n**New.** A thing.\n\n## 1.0.0 (2026-01-02)\n\nThe first.\n',
  );
  expect(releasedChangelog(released, '1.1.0', '2026-05-06')).toBe(released);
  expect(changesOf(released, '1.1.0')).toBe('**New.** A thing.');
  expect(changesOf(released, '1.0.0')).toBe('The first.');
  expect(() => releasedChangelog(CHANGELOG, '1.2.0', '2026-02-03')).toThrow('## 1.2.0 (unreleased)');
});

test('the version is set in the manifest and in the lock file, and those of other packages stay', () => {
  const lock = JSON.parse(withVersion(text('package-lock.json'), '9.8.7')) as {
    version: string;
    packages: Record<string, { version: string }>;
  };
  const { packages, version } = JSON.parse(text('package-lock.json')) as typeof lock;
  expect(lock).toEqual({
    ...(JSON.parse(text('package-lock.json')) as object),
    version: '9.8.7',
    packages: { ...packages, '': { ...packages[''], version: '9.8.7' } },
  });
  expect(withVersion(text('package.json'), '9.8.7')).toBe(
    text('package.json').replace(`"version": "${version}"`, '"version": "9.8.7"'),
  );
});

test('what stands in the way of publishing is named', () => {
  const ready = {
    version: '1.0.0',
    manifest: { version: '1.0.0' },
    repository: 'https://example.org/o/r',
    changelog: CHANGELOG,
    pages: { 'README.md': 'npm install tabserve' },
    env: { NODE_AUTH_TOKEN: 't', ACTIONS_ID_TOKEN_REQUEST_URL: 'https://example.com' },
    isClean: true,
  };
  expect(obstacles(ready)).toEqual([]);
  for (const [change, words] of [
    [{ version: '1.1.0' }, 'package.json has the version 1.0.0'],
    [{ version: '1.1.0', manifest: { version: '1.1.0' } }, 'CHANGELOG.md has no day'],
    [{ pages: { 'README.md': 'the package is not published yet' } }, 'README.md says'],
    [{ repository: undefined }, 'the address of the repository is not known'],
    [{ isClean: false }, 'not committed'],
    [{ env: { NODE_AUTH_TOKEN: 't' } }, 'provenance is signed'],
    [{ env: { ACTIONS_ID_TOKEN_REQUEST_URL: 'https://example.com' } }, 'NODE_AUTH_TOKEN is missing'],
  ] as const)
    expect(obstacles({ ...ready, ...change })[0]).toContain(words);
});

test('the repository is that of the CI, otherwise that of the remote, and a token in it is left out', () => {
  const github = { GITHUB_SERVER_URL: 'https://github.com', GITHUB_REPOSITORY: 'owner/name' };
  expect(repositoryOf(github, 'git@example.org:other/name.git\n')).toBe('https://github.com/owner/name');
  for (const remote of [
    'https://example.org/owner/name',
    'https://example.org/owner/name.git\n',
    'https://somebody:secret@example.org/owner/name.git',
    'git@example.org:owner/name.git',
    'ssh://git@example.org:2222/owner/name.git',
    'ssh://git@example.org/owner/name/',
  ])
    expect(repositoryOf({}, remote), remote).toBe('https://example.org/owner/name');
  expect(repositoryOf({}, 'https://example.org/group/part/name.git')).toBe('https://example.org/group/part/name');
  for (const remote of ['', '/home/somebody/name.git', '../name.git', 'file:///srv/name.git', 'C:\\name'])
    expect(repositoryOf({}, remote), remote).toBeUndefined();
});

test('a manifest without an address stays as it is', () => {
  expect(withRepository({ name: 'a' }, undefined)).toEqual({ name: 'a' });
});
