/**
 * The indices of the named points among the 468 of MediaPipe's face mesh: left and right are the person's own. The
 * eyes' outer corners are at the temples; a brow's point is in the middle of its upper edge.
 */
export const FACE_LANDMARKS = {
  noseTip: 1,
  forehead: 10,
  chin: 152,
  rightEyeOuter: 33,
  rightEyeInner: 133,
  rightEyeTop: 159,
  rightEyeBottom: 145,
  leftEyeOuter: 263,
  leftEyeInner: 362,
  leftEyeTop: 386,
  leftEyeBottom: 374,
  rightBrow: 105,
  leftBrow: 334,
  mouthRight: 61,
  mouthLeft: 291,
  upperLip: 13,
  lowerLip: 14,
  rightCheek: 234,
  leftCheek: 454,
} as const;
