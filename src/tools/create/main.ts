#!/usr/bin/env node
import { resolve } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../contract/errors.js';
import { VERSION } from '../../contract/version.js';
import { parse } from '../cli/flags.js';
import { choose } from './choose.js';
import { createApp } from './create-app.js';
import { FRAMEWORKS, TEMPLATE_NAMES, TEMPLATES } from './templates.js';

const HELP = `npm create tabserve@latest [FOLDER] [-- FLAGS]

Makes an app that runs a model on its visitors' devices. Asks for what is not given, if it runs on a terminal.

  --template NAME    what the app does
  --framework NAME   ${FRAMEWORKS.join(', ')}; without a terminal, ${FRAMEWORKS[0]} by default
  --tabserve SPEC    what npm installs as tabserve, such as a tarball's path: this version by default
  --help             shows this
  --version          shows the version

Templates
${TEMPLATE_NAMES.map((name) => `  ${name.padEnd(14)} ${TEMPLATES[name].what}`).join('\n')}
`;

const FLAGS = {
  template: { type: 'string' },
  framework: { type: 'string' },
  tabserve: { type: 'string' },
  help: { type: 'boolean' },
  version: { type: 'boolean' },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parse(
    { args: process.argv.slice(2), options: FLAGS, allowPositionals: true },
    'npm create tabserve -- --help',
  );
  if (values.help) return console.log(HELP);
  if (values.version) return console.log(VERSION);
  const terminal = process.stdin.isTTY ? createInterface({ input: process.stdin, output: process.stdout }) : undefined;
  try {
    const choice = await choose(positionals, values, terminal && ((question) => terminal.question(question)));
    const tabserve = values.tabserve ?? VERSION;
    const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));
    createApp({ ...choice, tabserve }, { templates: here('templates'), models: here('models') });
    const { title } = TEMPLATES[choice.template];
    const folder = resolve(choice.folder) === resolve('.') ? '' : choice.folder;
    console.log(`
${title} is in ${folder || 'this folder'}.

${folder && `  cd ${folder}\n`}  npm install
  npm run dev     the app, at the address that it prints
  npm test        builds the app, and tests it on three backends`);
  } finally {
    terminal?.close();
  }
}

main().catch((error: Error) => {
  console.error(messageOf(error));
  process.exitCode = 1;
});
