/** Asks a model under Node, in a process of its own, whose memory is then the model's. */
import { pathToFileURL } from 'node:url';
import { load } from '../../dist/node.js';
import { ask } from './ask.mjs';
import { inputOf, plain } from './inputs.mjs';

const { folder, inputs, ...work } = JSON.parse(process.argv[2]);
const found = await ask(load, { ...work, url: pathToFileURL(folder), inputs: inputs.map(inputOf) });
const bytes = process.resourceUsage().maxRSS * 1024;
process.stdout.write(JSON.stringify({ ...found, answers: found.answers.map(plain), bytes }));
process.exit(0);
