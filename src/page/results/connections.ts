/** Which landmarks belong together: data for drawings. */

/** Two points that a drawing connects, by their indices in `landmarks`. */
export type Connection = readonly [from: number, to: number];

/** What is drawn between the points of `hand_landmarker`: the palm and the fingers. */
export const HAND_CONNECTIONS: readonly Connection[] = [
  ...chain(0, 1, 2, 3, 4),
  ...chain(0, 5, 6, 7, 8),
  ...chain(9, 10, 11, 12),
  ...chain(13, 14, 15, 16),
  ...chain(0, 17, 18, 19, 20),
  ...chain(5, 9, 13, 17),
];

/** What is drawn between the points of `pose_landmarker`: face, arms, trunk and legs. */
export const POSE_CONNECTIONS: readonly Connection[] = [
  ...chain(0, 1, 2, 3, 7),
  ...chain(0, 4, 5, 6, 8),
  ...chain(9, 10),
  ...chain(11, 12),
  ...chain(11, 13, 15, 17, 19),
  ...chain(15, 19),
  ...chain(15, 21),
  ...chain(12, 14, 16, 18, 20),
  ...chain(16, 20),
  ...chain(16, 22),
  ...chain(11, 23, 25, 27, 29, 31),
  ...chain(27, 31),
  ...chain(12, 24, 26, 28, 30, 32),
  ...chain(28, 32),
  ...chain(23, 24),
];

/** What is drawn between COCO's 17 points, of models other than MediaPipe's: face, arms, trunk and legs. */
export const COCO_CONNECTIONS: readonly Connection[] = [
  ...chain(0, 1, 3),
  ...chain(0, 2, 4),
  ...chain(1, 2),
  ...chain(3, 5, 7, 9),
  ...chain(4, 6, 8, 10),
  ...chain(5, 6, 12, 11, 5),
  ...chain(11, 13, 15),
  ...chain(12, 14, 16),
];

/** What is drawn between the points of `face_landmarker`: the oval, brows, eyes, and the lips with the mouth's opening. */
export const FACE_CONNECTIONS: readonly Connection[] = [
  ...chain(10, 338, 297, 332, 284, 251, 389, 356, 454, 323, 361, 288, 397, 365, 379, 378, 400, 377, 152),
  ...chain(152, 148, 176, 149, 150, 136, 172, 58, 132, 93, 234, 127, 162, 21, 54, 103, 67, 109, 10),
  ...chain(276, 283, 282, 295, 285),
  ...chain(300, 293, 334, 296, 336),
  ...chain(46, 53, 52, 65, 55),
  ...chain(70, 63, 105, 66, 107),
  ...chain(263, 249, 390, 373, 374, 380, 381, 382, 362, 398, 384, 385, 386, 387, 388, 466, 263),
  ...chain(33, 7, 163, 144, 145, 153, 154, 155, 133, 173, 157, 158, 159, 160, 161, 246, 33),
  ...chain(61, 146, 91, 181, 84, 17, 314, 405, 321, 375, 291, 409, 270, 269, 267, 0, 37, 39, 40, 185, 61),
  ...chain(78, 95, 88, 178, 87, 14, 317, 402, 318, 324, 308, 415, 310, 311, 312, 13, 82, 81, 80, 191, 78),
];

/** Returns the connections from each point to the next. */
function chain(...points: readonly number[]): readonly Connection[] {
  return points.slice(1).map((to, at) => [points[at]!, to]);
}
