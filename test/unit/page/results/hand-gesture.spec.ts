// Hands that are built from their bones: no recorded hand shows all gestures.
import { expect, test } from '@playwright/test';
import { handGesture } from '../../../../src/page/results/hand-gesture.ts';

interface Point {
  readonly x: number;
  readonly y: number;
  readonly z: number;
}
type Thumb = 'out' | 'in';

/**
 * A right hand that shows its palm, the fingers upwards, wrist at (0, 0).
 * @param bends how far each joint of a finger bends towards the palm, in degrees: index, middle, ring, little
 */
function hand(bends: readonly number[], thumb: Thumb): readonly Point[] {
  const thumbs = {
    // Aside, and across the palm.
    out: [
      [-20, -15],
      [-38, -30],
      [-55, -40],
      [-70, -48],
    ],
    in: [
      [-20, -15],
      [-32, -35],
      [-22, -50],
      [-5, -58],
    ],
  }[thumb];
  const fingers = bends.flatMap((bend, finger) => {
    const base = { x: -25 + 17 * finger, y: -90 + 4 * Math.abs(finger - 1), z: 0 };
    const points: Point[] = [base];
    for (const [at, length] of [38, 25, 20].entries()) {
      // The first bone bends at the base, too, but less.
      const angle = (((at + 0.4) * bend) / 180) * Math.PI;
      const last = points.at(-1)!;
      points.push({ x: last.x, y: last.y - length * Math.cos(angle), z: last.z - length * Math.sin(angle) });
    }
    return points;
  });
  return [{ x: 0, y: 0, z: 0 }, ...thumbs.map(([x, y]) => ({ x: x!, y: y!, z: 0 })), ...fingers];
}

/** Turns a hand clockwise, moves and scales it; or mirrors it. */
const placed = (points: readonly Point[], degrees: number, mirror = 1): readonly Point[] => {
  const angle = (degrees * Math.PI) / 180;
  return points.map(({ x, y, z }) => ({
    x: 300 + 1.7 * mirror * (Math.cos(angle) * x - Math.sin(angle) * y),
    y: 200 + 1.7 * (Math.sin(angle) * x + Math.cos(angle) * y),
    z: 1.7 * z,
  }));
};

const [STRAIGHT, BENT, HALF] = [8, 75, 33];
const gesture = (landmarks: readonly Point[]) => handGesture({ landmarks });

for (const mirror of [1, -1])
  test(`the seven gestures, of a ${mirror === 1 ? 'right' : 'left'} hand`, () => {
    const show = (bends: readonly number[], thumb: Thumb, degrees = 0) =>
      gesture(placed(hand(bends, thumb), degrees, mirror));
    const fist = [BENT, BENT, BENT, BENT];
    const open = [STRAIGHT, STRAIGHT, STRAIGHT, STRAIGHT];
    expect(show(fist, 'in')).toBe('fist');
    expect(show(open, 'out')).toBe('openPalm');
    expect(show([STRAIGHT, BENT, BENT, BENT], 'in')).toBe('pointingUp');
    expect(show(fist, 'out', 75)).toBe('thumbUp');
    expect(show(fist, 'out', 255)).toBe('thumbDown');
    expect(show([STRAIGHT, STRAIGHT, BENT, BENT], 'in')).toBe('victory');
    expect(show([STRAIGHT, BENT, BENT, STRAIGHT], 'out')).toBe('iLoveYou');
    // What does not need a direction may have any.
    for (const degrees of [60, 170]) {
      expect(show(fist, 'in', degrees)).toBe('fist');
      expect(show(open, 'out', degrees)).toBe('openPalm');
      expect(show([STRAIGHT, STRAIGHT, BENT, BENT], 'in', degrees)).toBe('victory');
    }
  });

test('none: fingers that are half bent, three fingers, a thumb or a finger to the side', () => {
  expect(gesture(hand([STRAIGHT, HALF, BENT, BENT], 'in'))).toBe('none');
  expect(gesture(hand([STRAIGHT, STRAIGHT, STRAIGHT, BENT], 'in'))).toBe('none');
  expect(gesture(hand([STRAIGHT, STRAIGHT, STRAIGHT, STRAIGHT], 'in'))).toBe('none');
  expect(gesture(hand([BENT, BENT, BENT, BENT], 'out'))).toBe('none');
  expect(gesture(placed(hand([STRAIGHT, BENT, BENT, BENT], 'in'), 90))).toBe('none');
  expect(() => handGesture({ landmarks: [] })).toThrow('handGesture needs the 21 landmarks of a hand, not 0.');
});

test('points that are all at one place are no gesture, and a point that is none is refused', () => {
  expect(gesture(Array.from({ length: 21 }, () => ({ x: 5, y: 5, z: 5 })))).toBe('none');
  const thumb = hand([BENT, BENT, BENT, BENT], 'out').map((point, at) =>
    at === 4 ? { ...point, x: Number.NaN } : point,
  );
  expect(() => gesture(thumb)).toThrow('landmark 4 is at NaN, -48, 0');
});
