/**
 * `npm run release -- VERSION`: sets the version and its day in the changelog, builds both packages, and checks them: what
 * they hold, publint, attw, and a new app with them from a local registry.
 *
 * `npm run release -- VERSION --publish` changes nothing, checks the same, and publishes both with provenance. CI runs it.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ownRepository, packBoth } from './release/pack.mjs';
import { obstacles, releasedChangelog, withVersion } from './release/texts.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({ options: { publish: { type: 'boolean' } }, allowPositionals: true });
const [version] = positionals;
if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? '')) fail('Usage: npm run release -- VERSION [--publish]');

const read = (path) => readFileSync(root + path, 'utf8');
const edit = (path, change) => writeFileSync(root + path, change(read(path)));
const run = (command, ...args) =>
  execFileSync(command, args, { cwd: root, stdio: 'inherit', shell: process.platform === 'win32', env });
/** npm takes the token of its registry from the environment, too. */
const env = { ...process.env };

if (values.publish) {
  const found = whyNot();
  if (found.length > 0) fail(`${version} cannot be published:\n  ${found.join('\n  ')}`);
} else {
  for (const path of ['package.json', 'package-lock.json']) edit(path, (text) => withVersion(text, version));
  edit('src/contract/version.ts', (text) => text.replace(/'\d[^']*'/, `'${version}'`));
  edit('CHANGELOG.md', (text) => releasedChangelog(text, version, new Date().toISOString().slice(0, 10)));
}

run('npm', 'run', 'generate');
run('npx', 'playwright', 'test', '--project=packaging', 'package.spec', 'create.spec', 'size.spec');
run('npm', 'run', 'consumers', '--', 'published');

const tarballs = await packBoth(`${root}dist-create`, ownRepository());

if (values.publish) {
  const registry = execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim();
  env[`npm_config_${registry.replace(/^https?:/, '')}:_authToken`] = process.env.NODE_AUTH_TOKEN;
  for (const name of tarballs)
    // After a run that was interrupted, one of them may be there.
    if (!isPublished(name.replace(/-(?=\d)/, '@').replace(/\.tgz$/, '')))
      run('npm', 'publish', `./dist-create/${name}`, '--provenance', '--access', 'public', '--tag', tagOf(version));
} else
  console.log(
    [
      `\nReady: ${tarballs.join(', ')} in dist-create.`,
      ...whyNot().map((one) => `  Before it is published: ${one}.`),
      `Then: git commit -am "Version ${version}" && git tag v${version} && git push origin main v${version}`,
    ].join('\n'),
  );

/** Returns what stands in the way of publishing. */
function whyNot() {
  const pages = ['README.md', 'CHANGELOG.md', ...readdirSync(`${root}docs`).map((name) => `docs/${name}`)];
  return obstacles({
    version,
    manifest: JSON.parse(read('package.json')),
    repository: ownRepository(),
    changelog: read('CHANGELOG.md'),
    pages: Object.fromEntries(pages.filter((path) => path.endsWith('.md')).map((path) => [path, read(path)])),
    env: process.env,
    isClean: execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }) === '',
  });
}

/** Returns whether the registry has a version, such as tabserve@1.0.0. */
function isPublished(one) {
  return (
    spawnSync('npm', ['view', one, 'version'], { encoding: 'utf8', shell: process.platform === 'win32' }).stdout !== ''
  );
}

/** Returns npm's tag of a version: one such as 1.0.0-beta.1 is installed only by those who ask for it. */
function tagOf(one) {
  return one.includes('-') ? 'next' : 'latest';
}

function fail(why) {
  console.error(why);
  process.exit(1);
}
