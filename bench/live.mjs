/**
 * Live words of a talk: how long after a word it is final, and how many words that were shown have changed.
 * `npm run build && node bench/live.mjs FOLDER [--dtype q8]`, with the folder of a repository such as whisper-tiny.en, and
 * espeak-ng. The talk goes on while the model hears: a piece is what was said in the meantime.
 */
import { execFileSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { load } from '../dist/node.js';
import { editDistance } from './lib/edit-distance.mjs';
import { median, quantile } from './lib/statistics.mjs';

const TALK = [
  'Good morning, and thank you for coming to this talk about trains.',
  'The first public railway with steam engines opened in England two hundred years ago.',
  'It carried coal from the mines to the harbor, and soon it carried people, too.',
  'Many of them were afraid, because nothing had ever moved so fast.',
  'A doctor wrote that passengers would not be able to breathe.',
  'Ten years later there were lines between all the large cities.',
  'Towns had to agree on the time, which until then each of them had kept by its own sun.',
  'Farmers could sell milk and fruit in places that they had never seen.',
  'Today a fast train needs two hours for what then took two days.',
  'I would like to show you how that changed the way we live.',
];

const {
  positionals: [folder],
  values: { dtype },
} = parseArgs({ allowPositionals: true, options: { dtype: { type: 'string' } } });
if (!folder) throw new Error('Name the folder of a repository: node bench/live.mjs FOLDER');

const sentences = TALK.map(spoken);
const { sampleRate } = sentences[0];
const pause = new Float32Array(0.5 * sampleRate);
const talk = Float32Array.from(sentences.flatMap(({ samples }) => [...samples, ...pause]));
/** When each word has been said, in seconds: its share of its sentence's letters. */
const said = [];
let at = 0;
for (const [index, { samples }] of sentences.entries()) {
  const text = TALK[index];
  for (const { index: start, 0: word } of text.matchAll(/\S+/g))
    said.push({ word: plain(word), time: (at + (samples.length * (start + word.length)) / text.length) / sampleRate });
  at += samples.length + pause.length;
}

const writer = await load(pathToFileURL(folder), {
  handler: 'speech_to_text',
  ...(dtype && { config: { engine: { dtype } } }),
});
const params = { noSpeechThreshold: 0.6 };
const { text: whole } = await writer.predict({ samples: talk, sampleRate }, { params });
const reference = said.map(({ word }) => word);

const row = (name, value) => console.log(name.padEnd(56), value);
row('Length of the talk', `${(talk.length / sampleRate).toFixed(1)} s, ${said.length} words`);
row(
  'Words that are wrong, of the whole recording at once',
  editDistance(reference, whole.split(/\s+/).map(plain).filter(Boolean)),
);
await follow('If computing took no time', 0);
await follow('As this machine computes', 1);
process.exit(0);

/**
 * Gives the talk to a sequence as a microphone would, and prints how it went.
 * @param share of the time that an answer takes in which the talk goes on
 */
async function follow(title, share) {
  const sequence = writer.openSequence();
  const final = [];
  let interim = [];
  let [shown, changed] = [0, 0];
  const takes = [];
  for (let heard = 0, clock = 1; heard < talk.length;) {
    const end = Math.min(talk.length, Math.floor(clock * sampleRate));
    const isLast = end === talk.length;
    const began = performance.now();
    const piece = { samples: talk.slice(heard, end), sampleRate };
    const result = await sequence.predict(piece, { params: { ...params, finalize: isLast } });
    const took = (performance.now() - began) / 1000;
    takes.push(took);
    clock += share * took;
    const next = [...result.final.parts, ...result.interim.parts].map(({ text }) => text);
    shown += interim.length;
    changed += interim.filter((text, place) => text !== next[place]).length;
    final.push(...result.final.parts.map(({ text }) => ({ text, time: clock })));
    interim = result.interim.parts.map(({ text }) => text);
    heard = end;
    // A hypothesis waits for a second that is new.
    clock = Math.max(clock, end / sampleRate + 1.01);
  }
  await sequence.end();
  const words = final.map(({ text }) => plain(text));
  const latencies = align(reference, words).map(([place, own]) => final[own].time - said[place].time);
  console.log(`\n${title}`);
  row('  A hypothesis takes, median', `${median(takes).toFixed(2)} s, ${takes.length} of them`);
  row('  From a word to its being final, median', `${median(latencies).toFixed(2)} s`);
  row('  … 95th percentile', `${quantile(latencies, 0.95).toFixed(2)} s`);
  row('  Interim words that the next answer has changed', `${((100 * changed) / shown).toFixed(1)} % of ${shown}`);
  row('  Words that are wrong', editDistance(reference, words));
}

function spoken(text) {
  const wav = execFileSync('espeak-ng', ['--stdout', '-v', 'en-us', '-s', '150', text], { maxBuffer: 1e8 });
  const bytes = wav.subarray(44, wav.length - (wav.length % 2));
  const samples = new Float32Array(bytes.length / 2).map((_, index) => bytes.readInt16LE(2 * index) / 32_768);
  return { samples, sampleRate: wav.readUInt32LE(24) };
}

function plain(word) {
  return word.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');
}

/** Returns the places of the words that both have, by the longest common subsequence. */
function align(left, right) {
  const lengths = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let a = left.length - 1; a >= 0; a--)
    for (let b = right.length - 1; b >= 0; b--)
      lengths[a][b] = left[a] === right[b] ? lengths[a + 1][b + 1] + 1 : Math.max(lengths[a + 1][b], lengths[a][b + 1]);
  const places = [];
  for (let [a, b] = [0, 0]; a < left.length && b < right.length;)
    if (left[a] === right[b]) places.push([a++, b++]);
    else if (lengths[a + 1][b] >= lengths[a][b + 1]) a++;
    else b++;
  return places;
}
