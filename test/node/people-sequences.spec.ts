// Sequences of frames with the models of the archives: ids, smoothing, and where MediaPipe follows (test/goldens/people/clips.py).
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { expect, test } from '@playwright/test';
import {
  archive,
  ASTRONAUT,
  boxAround,
  distances,
  load,
  nearest,
  partAt,
  partOf,
  root,
  type Frame,
  type Point,
  type Rect,
} from './support/people.ts';
import { photoOf } from './support/photos.ts';

test('a camera that pans and zooms, changes its size, and loses the face', async () => {
  await using client = await load<'face_landmarker'>(archive('face'));
  const sequence = client.openSequence();
  const idsOf = async (frame: Frame): Promise<readonly (number | undefined)[]> =>
    (await sequence.predict(frame)).map(({ id }) => id);
  // Each frame has another size: everybody is detected anew, with new ids.
  const before: (number | undefined)[] = [];
  for (let step = 0; step < 8; step++)
    before.push(...(await idsOf(await partOf(ASTRONAUT, step * 8, step * 3, 400 - step * 4, 300))));
  expect(before).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  for (let step = 0; step < 8; step++)
    expect(await idsOf(await partOf(ASTRONAUT, 60 - step * 6, 20, 380, 300))).toEqual([9]);
  // Away for ten frames: the id stays.
  for (let step = 0; step < 10; step++) expect(await idsOf(await partOf(ASTRONAUT, 20, 700, 380, 300))).toEqual([]);
  const back = [
    await idsOf(await partOf(ASTRONAUT, 20, 20, 380, 300)),
    await idsOf(await partOf(ASTRONAUT, 20, 20, 380, 300)),
  ];
  expect(back.at(-1)).toEqual([9]);
  await sequence.end();
});

interface Clip {
  readonly kind: 'face' | 'hand';
  readonly photo: string;
  readonly frames: readonly { readonly region: Rect; readonly found: readonly (readonly Point[])[] | null }[];
}
const { size: FRAME_SIZE, clips: CLIPS } = JSON.parse(
  gunzipSync(readFileSync(new URL('test/goldens/people/clips.json.gz', root))).toString(),
) as { readonly size: readonly [columns: number, rows: number]; readonly clips: readonly Clip[] };

/** `npm test` has the first clip of each kind. */
const tagOf = (photo: string): string => (/astronaut|sofa/.test(photo) ? '' : ' @full');

for (const { kind, photo, frames } of CLIPS)
  test(`a clip: MediaPipe's points in every third frame, and ids that stay: ${kind}, ${photo.split('/').at(-1)}${tagOf(photo)}`, async () => {
    await using client = await load<'face_landmarker'>(archive(kind));
    const sequence = client.openSequence();
    const still = await photoOf({ photo, turn: 0 });
    let ids: readonly (number | undefined)[] | undefined;
    for (const [at, { region, found: expected }] of frames.entries()) {
      const frame = await partAt(still, region, FRAME_SIZE);
      const found = await sequence.predict(frame, { params: { smoothing: false, detectEvery: 1000 } });
      ids ??= found.map(({ id }) => id);
      expect(found.map(({ id }) => id).toSorted(), `frame ${at}`).toEqual(ids.toSorted());
      // The palm detectors are of two generations: then the landmarks say where to look, and both come to the same place.
      if (!expected || (kind === 'hand' && at < 6)) continue;
      expect(found.length).toBeGreaterThanOrEqual(expected.length);
      for (const points of expected) {
        const away = distances(nearest(found, boxAround(points)).landmarks, points);
        expect(away[away.length >> 1], `frame ${at}`).toBeLessThan(0.01);
        expect(away.at(-1), `frame ${at}`).toBeLessThan(at < 6 ? 0.03 : 0.01);
      }
    }
    expect(ids).not.toContain(undefined);
    await sequence.end();
  });

/** A frame of 640 × 360 with cut-outs on gray, each around its center; the later ones are in front. */
function framed(cutouts: readonly { readonly photo: Frame; readonly x: number; readonly y: number }[]): Frame {
  const [width, height] = [640, 360];
  const data = new Uint8Array(width * height * 3).fill(128);
  for (const { photo, x, y } of cutouts) {
    const [rows, columns] = photo.dims as [number, number];
    const [left, top] = [Math.round(x - columns / 2), Math.round(y - rows / 2)];
    for (let v = Math.max(0, -top); v < Math.min(rows, height - top); v++)
      for (let u = Math.max(0, -left); u < Math.min(columns, width - left); u++) {
        // An ellipse: without the corners of the photo.
        if ((u / columns - 0.5) ** 2 + (v / rows - 0.5) ** 2 > 0.25) continue;
        const from = (v * columns + u) * 3;
        data.set(photo.data.subarray(from, from + 3), ((v + top) * width + u + left) * 3);
      }
  }
  return { data, dims: [height, width, 3] };
}

test('two faces that cross: each keeps its id, though one is hidden behind the other @full', async () => {
  await using client = await load<'face_landmarker'>(archive('face'));
  const sequence = client.openSequence();
  const astronaut = await partAt(await photoOf(ASTRONAUT), [225, 120, 150, 190, 0], [120, 152]);
  const admiral = await partAt(
    await photoOf({ photo: 'public/models/selfie/samples/grace-hopper.jpg', turn: 0 }),
    [275, 165, 260, 330, 0],
    [120, 152],
  );
  let ids: readonly (number | undefined)[] = [];
  let both = 0;
  for (let across = 0; across <= 400; across += 8) {
    const places = [520 - across, 120 + across] as const;
    const found = await sequence.predict(
      framed([
        { photo: admiral, x: places[0], y: 180 },
        { photo: astronaut, x: places[1], y: 190 },
      ]),
    );
    const at = (x: number) =>
      found.filter(({ box }) => Math.abs((box.xmin + box.xmax) / 2 - x) < 15).map(({ id }) => id);
    if (across === 0) ids = places.flatMap(at);
    // Where they are nearer to each other, one is hidden; it is found again by the next run of the detector.
    if (Math.abs(places[0] - places[1]) < 90) continue;
    expect(places.map(at), `${across} pixels`).toEqual(ids.map((id) => [id]));
    both++;
  }
  expect(new Set(ids).size).toBe(2);
  expect(both).toBeGreaterThan(30);
  await sequence.end();
});

const PANS = { hand: ['public/models/hand/samples/sofa.jpg', 4], pose: [ASTRONAUT.photo, 1] } as const;

for (const [name, [photo, count]] of Object.entries(PANS))
  test(`${name}: ids stay while a camera pans, and smoothed points shake less @full`, async () => {
    await using client = await load<'hand_landmarker'>(archive(name));
    const still = await photoOf({ photo, turn: 0 });
    const [rows, columns] = still.dims as [number, number];
    const sequences = { smoothed: client.openSequence(), raw: client.openSequence() };
    interface Path {
      readonly ids: (number | undefined)[];
      readonly points: (readonly number[])[];
    }
    const paths: Record<string, Path> = {};
    for (const [kind, sequence] of Object.entries(sequences)) {
      const path: Path = { ids: [], points: [] };
      paths[kind] = path;
      for (let at = 0; at < 16; at++) {
        // The camera pans, and then it shakes by a pixel.
        const x = columns / 2 + (at < 8 ? at * 2 : 14 + (at % 2));
        const frame = await partAt(still, [x, rows / 2, columns, rows, 0], [columns, rows]);
        const found = await sequence.predict(frame, { params: { smoothing: kind === 'smoothed' } });
        const own = found.toSorted((a, b) => a.id! - b.id!);
        expect(own.length, `frame ${at}`).toBe(count);
        path.ids.push(...own.map(({ id }) => id));
        path.points.push(own.flatMap(({ landmarks }) => landmarks.flatMap(({ x, y }) => [x, y])));
      }
      await sequence.end();
      expect(new Set(path.ids).size).toBe(count);
    }
    const shake = ({ points }: Path): number =>
      points
        .slice(10)
        .reduce(
          (sum, numbers, at) =>
            sum + numbers.reduce((all, one, axis) => all + Math.abs(one - points[at + 9]![axis]!), 0),
          0,
        );
    expect(shake(paths['smoothed']!)).toBeLessThan(0.7 * shake(paths['raw']!));
  });
