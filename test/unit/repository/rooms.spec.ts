import { readdirSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { ROOMS, roomOf, violation } from '../../../scripts/lint/rooms.mjs';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => /\.tsx?$/.test(file));

test('every file is in a room, and every room has files', () => {
  expect(files.filter((file) => roomOf(file) === '')).toEqual([]);
  const used = new Set(files.map(roomOf));
  expect(Object.keys(ROOMS).filter((room) => !used.has(room))).toEqual([]);
});

test('every room that a rule names exists', () => {
  const named = Object.values(ROOMS).flatMap(({ imports, types = [] }) => [...imports, ...types]);
  const known = new Set(Object.keys(ROOMS).flatMap((room) => [room, room.split('/')[0], `${room.split('/')[0]}/*`]));
  expect(named.filter((room) => room !== 'entries' && !known.has(room))).toEqual([]);
});

test('imports point one way', () => {
  expect(violation('page/client/client.ts', 'worker/host/host.ts', false)).toContain(
    'page/client does not import worker/host',
  );
  expect(violation('page/client/client.ts', 'worker/handlers/registry.ts', true)).toBeUndefined();
  expect(violation('page/client/client.ts', 'page/workers/pool.ts', false)).toBeUndefined();
  expect(violation('page/workers/pool.ts', 'page/client/client.ts', false)).toContain(
    'page/workers does not import page/client.',
  );
  expect(violation('worker/handlers/base-handler.ts', 'worker/engines/session.ts', true)).toContain('worker/engines');
  expect(violation('worker/host/host.ts', 'worker/engines/session.ts', false)).toBeUndefined();
  expect(violation('contract/wire.ts', 'shared/limit.ts', true)).toContain('no other room');
  expect(violation('tools/cli/main.ts', 'page/client/client.ts', false)).toContain('tools/cli does not import page');
  expect(violation('elsewhere/a.ts', 'contract/wire.ts', false)).toContain('in no room');
});
