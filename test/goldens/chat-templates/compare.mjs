// Compares what TabServe renders with what `make.py FOLDER OUTPUT.json` wrote, for templates that are not committed.
//   npm run build && node test/goldens/chat-templates/compare.mjs FOLDER OUTPUT.json
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const { Template } = await import(new URL('../../../dist/worker/generation/jinja/template.js', import.meta.url).href);
const here = fileURLToPath(new URL('.', import.meta.url));
const [folder, output, shows] = process.argv.slice(2);
/** @param {string} file */
const json = (file) => JSON.parse(readFileSync(file, 'utf8'));
const conversations = json(`${here}conversations.json`);
const special = { bos_token: '<s>', eos_token: '</s>', pad_token: '<pad>', unk_token: '<unk>' };

const REFUSALS = new Set(['raised', 'runtime', 'syntax']);
let [equal, all, refused] = [0, 0, 0];
for (const [file, expected] of Object.entries(json(output))) {
  const source = readFileSync(`${folder}/${file}`, 'utf8');
  for (const [name, right] of Object.entries(expected)) {
    all += 1;
    /** @type {{ text?: string, error?: string }} */
    let got;
    try {
      const given = { tools: null, documents: null, ...special, ...conversations[name] };
      got = { text: new Template(source).render(given, () => new Date(2024, 6, 6, 15, 4, 5)) };
    } catch (error) {
      got = { error: `${error.kind ?? error.name}: ${error.message}` };
      // What Python refuses, TabServe must refuse for the same kind of reason, not because of a gap.
      if (right.error && (right.error === 'RecursionError' ? error.kind === 'limit' : REFUSALS.has(error.kind))) {
        equal += 1;
        refused += 1;
        continue;
      }
    }
    if (right.error === undefined && got.text === right.text) equal += 1;
    else if (shows)
      console.log(`${file} × ${name}\n  got:   ${JSON.stringify(got)}\n  right: ${JSON.stringify(right)}`);
    else
      console.log(`${file} × ${name}: ${got.error ?? (right.error ? `Python fails: ${right.error}` : 'another text')}`);
  }
}
console.log(`${equal} of ${all} are equal, ${refused} of which both refuse.`);
