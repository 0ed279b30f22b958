/** The names of landmarks in the order of the models, and which of them a drawing connects. */

/** Two points of a model, by their places in `landmarks`. */
export type Connection = readonly [from: number, to: number];

/** The points of MediaPipe's model of hands. */
export const HAND_LANDMARKS = [
  'wrist',
  ...['thumbCmc', 'thumbMcp', 'thumbIp', 'thumbTip'],
  ...['index', 'middle', 'ring', 'pinky'].flatMap((finger) =>
    ['Mcp', 'Pip', 'Dip', 'Tip'].map((joint) => `${finger}${joint}`),
  ),
] as const;

/** The points of MediaPipe's model of bodies: left and right are the person's own. */
export const POSE_LANDMARKS = [
  'nose',
  ...['leftEyeInner', 'leftEye', 'leftEyeOuter', 'rightEyeInner', 'rightEye', 'rightEyeOuter'],
  ...['leftEar', 'rightEar', 'mouthLeft', 'mouthRight'],
  ...['Shoulder', 'Elbow', 'Wrist', 'Pinky', 'Index', 'Thumb', 'Hip', 'Knee', 'Ankle', 'Heel', 'FootIndex'].flatMap(
    (part) => [`left${part}`, `right${part}`],
  ),
] as const;
