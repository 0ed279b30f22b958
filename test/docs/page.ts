import { readFileSync } from 'node:fs';

/** The blocks of docs/model-config.md that a comment gives a path, by their archive and the path in it. */
export const examples: ReadonlyMap<string, Readonly<Record<string, string>>> = read();

function read(): Map<string, Record<string, string>> {
  const page = readFileSync(new URL('../../docs/model-config.md', import.meta.url), 'utf8');
  const archives = new Map<string, Record<string, string>>();
  for (const [, archive, path, code] of page.matchAll(/<!-- ([\w-]+)\/(\S+) -->\n```\w+\n([^]*?)```/g))
    archives.set(archive!, { ...archives.get(archive!), [path!]: code! });
  return archives;
}
