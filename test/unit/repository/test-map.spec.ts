import { existsSync, readdirSync } from 'node:fs';
import { expect, test } from '@playwright/test';
import { ROOMS } from '../../../scripts/lint/rooms.mjs';
import { coverageOf, pathOf, SPECS, testsOf } from '../../../scripts/tests/map.mjs';

const named = Object.values(SPECS).flatMap((specs) =>
  Object.entries(specs).flatMap(([project, names]) => names.map((name) => pathOf(project, name))),
);

test('every room, and every path of a row, exists; every spec that is named exists', () => {
  expect(Object.keys(ROOMS).filter((room) => !(`src/${room.replace(/\/\*$/, '')}/` in SPECS))).toEqual([]);
  expect(Object.keys(SPECS).filter((path) => path !== 'scripts/build' && path !== '' && !existsSync(path))).toEqual([]);
  expect(named.filter((path) => !existsSync(path))).toEqual([]);
});

test('every spec of a browser, of Node and of the package has a row', () => {
  const specs = ['browser', 'node', 'packaging'].flatMap((folder) =>
    readdirSync(`test/${folder}`)
      .filter((name) => name.endsWith('.spec.ts'))
      .map((name) => `test/${folder}/${name}`),
  );
  expect(specs.filter((path) => !named.includes(path))).toEqual([]);
});

test('the unit tests of a file are those of its folder, or of the nearest one above', () => {
  const unit = (file: string): unknown => testsOf(file, existsSync)['unit'];
  expect(unit('src/worker/images/exif.ts')).toEqual(['test/unit/worker/images']);
  expect(unit('src/worker/tensors/stack.ts')).toEqual(['test/unit/worker']);
  expect(unit('src/shared/limit.ts')).toEqual(['test/unit']);
  expect(unit('demo/main.ts')).toEqual(['test/unit/repository']);
});

test('a spec runs itself, in its own project; one that was deleted runs nothing', () => {
  expect(testsOf('test/browser/ocr.spec.ts', existsSync)).toEqual({ wasm: ['test/browser/ocr.spec.ts'] });
  expect(testsOf('test/node/docs.spec.ts', existsSync)).toEqual({ node: ['test/node/docs.spec.ts'] });
  expect(testsOf('test/unit/worker/gone.spec.ts', existsSync)).toEqual({});
});

test('what is new or generated runs its unit tests, and the comparison with what it is made from', () => {
  const file = 'src/worker/tasks/texts/new.ts';
  expect(testsOf(file, existsSync, { isNew: true })).toEqual({
    unit: ['test/unit/worker/tasks/texts', 'test/unit/repository'],
  });
  expect(testsOf(file, existsSync)).toHaveProperty('wasm');
  const generated = 'src/worker/tasks/texts/index.ts';
  expect(testsOf(generated, existsSync, { isGenerated: true })).toEqual({ unit: ['test/unit/repository'] });
});

test('a model of a task, its answers and its script run the rows of that task or model', () => {
  const title = (file: string): string | undefined => coverageOf(`test/models/tasks/${file}`);
  expect(title('fill_mask.json')).toBe(' fill_mask: ');
  expect(title('make/fill_mask.py')).toBe(' fill_mask: ');
  expect(title('image-vit/onnx/model.onnx.gz')).toBe('\\(image-vit\\)');
  expect(coverageOf('test/models/goldens.json')).toBeUndefined();
});
