/** Bright enough for black text on each, and far enough from one another. */
const COLOURS = [
  '#4fd1a5',
  '#ffb454',
  '#7cb7ff',
  '#ff8fab',
  '#c8e05a',
  '#c9a2ff',
  '#5fd7e8',
  '#ffd84d',
  '#ff9d7a',
  '#9fe08a',
  '#e7b3e6',
  '#a9c4d6',
] as const;

/** A colour for each label, the same as long as this lives. */
export function palette(): (label: string) => string {
  const known = new Map<string, string>();
  return (label) => {
    const colour = known.get(label) ?? COLOURS[known.size % COLOURS.length]!;
    known.set(label, colour);
    return colour;
  };
}
