import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from '@playwright/test';
import { ROOMS, roomOf, violation } from '../../../scripts/lint/rooms.mjs';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file));

test('every file is in a room, and every room has files', () => {
  expect(files.filter((file) => roomOf(file) === '')).toEqual([]);
  const used = new Set(files.map(roomOf));
  const hasFiles = (room: string): boolean =>
    room.endsWith('/*') ? [...used].some((one) => one.startsWith(room.slice(0, -1))) : used.has(room);
  expect(Object.keys(ROOMS).filter((room) => !hasFiles(room))).toEqual([]);
});

test('every room that a rule names exists', () => {
  const named = Object.values(ROOMS).flatMap(({ imports, types = [], lazy = {} }) => [
    ...imports,
    ...types,
    ...Object.values(lazy).flat(),
  ]);
  const known = new Set(Object.keys(ROOMS).flatMap((room) => [room, room.split('/')[0], `${room.split('/')[0]}/*`]));
  expect(named.filter((room) => room !== 'entries' && !known.has(room))).toEqual([]);
});

test('imports point one way', () => {
  expect(violation('page/client/client.ts', 'worker/host/host.ts', 'value')).toContain(
    'page/client does not import worker/host',
  );
  expect(violation('page/client/client.ts', 'worker/handlers/registry.ts', 'type')).toBeUndefined();
  expect(violation('page/client/client.ts', 'page/workers/pool.ts', 'value')).toBeUndefined();
  expect(violation('page/workers/pool.ts', 'page/client/client.ts', 'value')).toContain(
    'page/workers does not import page/client.',
  );
  expect(violation('worker/handlers/base-handler.ts', 'worker/engines/session.ts', 'type')).toContain('worker/engines');
  expect(violation('worker/host/host.ts', 'worker/engines/session.ts', 'value')).toBeUndefined();
  expect(violation('contract/wire.ts', 'shared/limit.ts', 'type')).toContain('no other room');
  expect(violation('tools/cli/main.ts', 'page/client/client.ts', 'value')).toContain('tools/cli does not import page');
  const [detector, classifier] = ['worker/tasks/detection/a.ts', 'worker/tasks/texts/b.ts'];
  expect(violation(detector, classifier, 'type')).toContain(
    'worker/tasks/detection does not import worker/tasks/texts',
  );
  expect(violation(detector, 'worker/handlers/registry.ts', 'value')).toBeUndefined();
  expect(violation('worker/handlers/registry.ts', classifier, 'lazy')).toBeUndefined();
  expect(violation('worker/handlers/embed.ts', classifier, 'lazy')).toContain('does not import worker/tasks/texts');
  expect(violation('worker/handlers/registry.ts', classifier, 'value')).toContain('does not import worker/tasks/texts');
  expect(violation('elsewhere/a.ts', 'contract/wire.ts', 'value')).toContain('in no room');
});

test('what only one folder of tasks uses lies in that folder', () => {
  const imports = (file: string): readonly string[] =>
    [...readFileSync(`src/${file}`, 'utf8').matchAll(/(?:from|import\() ?'(\.[^']+)\.js'/g)].map(
      ([, path]) => `${join(dirname(file), path!).replaceAll('\\', '/')}.ts`,
    );
  const users = new Map<string, string[]>();
  for (const file of files) for (const path of imports(file)) users.set(path, [...(users.get(path) ?? []), file]);
  const isShared = (file: string): boolean => /^worker\/(handlers|outputs)\//.test(file);
  /** Returns the rooms that use a file, also by way of other shared files. */
  const roomsOf = (file: string, seen = new Set<string>()): ReadonlySet<string> => {
    seen.add(file);
    const own = (users.get(file) ?? []).filter((one) => !seen.has(one));
    return new Set(own.flatMap((one) => (isShared(one) ? [...roomsOf(one, seen)] : roomOf(one))));
  };
  const shared = files.filter(isShared);
  expect([...roomsOf('worker/outputs/boxes/nms.ts')]).toContain('worker/tasks/detection');
  const misplaced = shared.filter((file) => {
    const [only, ...others] = roomsOf(file);
    return others.length === 0 && only?.startsWith('worker/tasks/') === true;
  });
  expect(misplaced).toEqual([]);
});
