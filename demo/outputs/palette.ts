/** Bright enough for black text, and easy to tell apart. */
const COLORS = [
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

/** Returns a function that gives each label its color. */
export function palette(): (label: string) => string {
  const known = new Map<string, string>();
  return (label) => {
    const color = known.get(label) ?? COLORS[known.size % COLORS.length]!;
    known.set(label, color);
    return color;
  };
}
