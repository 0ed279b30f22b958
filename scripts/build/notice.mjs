import { readdirSync, readFileSync } from 'node:fs';

/** This package's files are bundles: its dependencies are in them, too. */
const BUNDLED = 'onnxruntime-web';

const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

const ISC = `Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided that the above copyright notice and this permission notice appear in all copies.

THE SOFTWARE IS PROVIDED "AS IS" AND THE AUTHOR DISCLAIMS ALL WARRANTIES WITH REGARD TO THIS SOFTWARE INCLUDING ALL IMPLIED WARRANTIES OF MERCHANTABILITY AND FITNESS. IN NO EVENT SHALL THE AUTHOR BE LIABLE FOR ANY SPECIAL, DIRECT, INDIRECT, OR CONSEQUENTIAL DAMAGES OR ANY DAMAGES WHATSOEVER RESULTING FROM LOSS OF USE, DATA OR PROFITS, WHETHER IN AN ACTION OF CONTRACT, NEGLIGENCE OR OTHER TORTIOUS ACTION, ARISING OUT OF OR IN CONNECTION WITH THE USE OR PERFORMANCE OF THIS SOFTWARE.`;

/**
 * Returns the text of `NOTICE.txt`: each npm package that files went into the bundles from, with its license and its
 * copyright lines. A license that several have is there once.
 * @param {string} root the repository
 * @param {readonly string[]} files paths of the files that were bundled
 */
export function notice(root, files) {
  /** @type {Map<string, string[]>} */
  const packages = new Map();
  const add = (/** @type {string} */ name, /** @type {string[]} */ paths) =>
    packages.set(name, [...(packages.get(name) ?? []), ...paths]);
  for (const file of new Set(files)) {
    // Code of the bundler itself.
    if (file.startsWith('\0')) continue;
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
    if (name) add(name, [file]);
  }
  for (const name of Object.keys(manifest(root, BUNDLED).dependencies)) add(name, []);

  /** License text → the packages that have it. @type {Map<string, string[]>} */
  const texts = new Map();
  const entries = [...packages]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, paths]) => {
      const { version, license, homepage, repository, author } = manifest(root, name);
      const text = licenseText(root, name, license);
      texts.set(text, [...(texts.get(text) ?? []), name]);
      const lines = [...new Set(paths.flatMap((path) => copyrights(readFileSync(path, 'utf8'))))].sort();
      const who = lines.length > 0 ? lines : [typeof author === 'string' ? author : author?.name].filter(Boolean);
      return [`${name} ${version} (${license})`, homepage ?? repository?.url ?? repository, ...who].join('\n  ');
    });
  return [
    'The JavaScript files of this folder contain code of these npm packages:',
    ...entries,
    ...[...texts].map(([text, names]) => `${'-'.repeat(80)}\n${names.join(', ')}:\n\n${text}`),
  ]
    .join('\n\n')
    .concat('\n');
}

/**
 * @param {string} root
 * @param {string} name
 */
function manifest(root, name) {
  return JSON.parse(readFileSync(`${root}node_modules/${name}/package.json`, 'utf8'));
}

/**
 * Returns the license that a package ships, or the text that its license names.
 * @param {string} root
 * @param {string} name
 * @param {string} license
 */
function licenseText(root, name, license) {
  const folder = `${root}node_modules/${name}`;
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (file) return readFileSync(`${folder}/${file}`, 'utf8').trim();
  // comlink ships the text of the Apache license.
  const apache = () => readFileSync(`${root}node_modules/comlink/LICENSE`, 'utf8').trim();
  const known = {
    MIT: () => MIT,
    ISC: () => ISC,
    'Apache-2.0': apache,
    'Apache-2.0 AND MIT': () => `${apache()}\n\n${MIT}`,
  }[license];
  if (!known)
    throw new Error(
      `${name} has the license "${license}" and no file with its text: add the text to scripts/build/notice.mjs.`,
    );
  return known();
}

/**
 * Returns the copyright lines of a file's comments.
 * @param {string} code
 */
function copyrights(code) {
  return (code.match(/\/\*[\s\S]*?\*\/|\/\/.*/g) ?? [])
    .flatMap((comment) => comment.split('\n'))
    .map((line) => line.replace(/^[\s/*!]+|[\s*/]+$/g, ''))
    .filter((line) => /^(?:copyright|\(c\)|©)/i.test(line) && line.length < 200);
}
