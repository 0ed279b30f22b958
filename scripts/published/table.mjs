/** The table of docs/models.md. */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const PAGE = fileURLToPath(new URL('../../docs/models.md', import.meta.url));
const HEAD = [
  'Task',
  'Repository',
  'Precision',
  'MB',
  'Options',
  'Where',
  'Load, s',
  'Answer, s',
  'Memory, MB',
  'Equal to',
];

/** Returns the lines of a table. */
export function tableOf(rows) {
  const cells = rows.map((row) => [
    `\`${row.task}\``,
    row.repository ?? `none: ${row.of}`,
    row.dtype,
    megabytes(row.size),
    row.config ? `\`${JSON.stringify(row.config)}\`` : '',
    row.where,
    row.load.toFixed(1),
    row.answer < 0.1 ? row.answer.toFixed(3) : row.answer.toFixed(1),
    megabytes(row.bytes),
    `${row.to}: ${row.text}`,
  ]);
  return [HEAD, HEAD.map(() => '---'), ...cells].map((line) => `| ${line.join(' | ')} |`);
}

/** Puts the tables of models and of their sources into the page. */
export function writeTable(rows) {
  const sources = new Map(rows.map(({ name, source, license }) => [name, `| ${name} | ${source} | ${license} |`]));
  const parts = {
    measured: tableOf(rows),
    sources: ['| Model | Package | License |', '| --- | --- | --- |', ...sources.values()],
  };
  let page = readFileSync(PAGE, 'utf8');
  for (const [name, lines] of Object.entries(parts))
    page = page.replace(
      new RegExp(`<!-- ${name} -->[^]*?<!-- /${name} -->`),
      () => `<!-- ${name} -->\n\n${lines.join('\n')}\n\n<!-- /${name} -->`,
    );
  writeFileSync(PAGE, page);
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
}
