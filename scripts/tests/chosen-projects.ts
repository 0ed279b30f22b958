/**
 * Returns the projects that a command line of Playwright's chooses, such as `--project=unit` or `--project unit node`;
 * `undefined` if it chooses none, which runs all.
 */
export function chosenProjects(args: readonly string[]): readonly string[] | undefined {
  const chosen: string[] = [];
  args.forEach((arg, index) => {
    if (arg.startsWith('--project=')) chosen.push(arg.slice('--project='.length));
    if (arg !== '--project') return;
    const rest = args.slice(index + 1);
    const end = rest.findIndex((other) => other.startsWith('-'));
    chosen.push(...(end < 0 ? rest : rest.slice(0, end)));
  });
  return chosen.length > 0 ? chosen : undefined;
}
