/** Returns the lists of tasks, as they are to stand in the repository, by their paths. */
export function taskLists(
  load: (path: string) => Promise<Readonly<Record<string, unknown>>>,
): Promise<Readonly<Record<string, string>>>;
