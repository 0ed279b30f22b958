/** Returns the share of a picture that a mask covers, in 0..1: the pixels that are more likely foreground than not. */
export function shareOf({ mask }: { readonly mask: Float32Array }): number {
  let covered = 0;
  for (const probability of mask) if (probability > 0.5) covered += 1;
  return covered / mask.length;
}
