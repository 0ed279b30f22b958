/** Asks a model under Node, in a process of its own, whose memory is then the model's. */
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { load } from '../../dist/node.js';
import { ask } from './ask.mjs';
import { inputOf, plain } from './inputs.mjs';

const { folder, inputs, ...work } = JSON.parse(process.argv[2]);
const found = await ask(load, { ...work, url: pathToFileURL(folder), inputs: inputs.map(inputOf) });
// `maxRSS` begins with the memory of the process that started this one.
const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'));
const bytes = Number(kilobytes) * 1024;
process.stdout.write(JSON.stringify({ ...found, answers: found.answers.map(plain), bytes }));
process.exit(0);
