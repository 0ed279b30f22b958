/** The texts in which a version stands. */

/** The heading of a version that is being made. @param {string} version */
const unreleased = (version) => `## ${version} (unreleased)`;

/**
 * Returns the changelog with the day of a version. What stands before its first section is for the time without one.
 * @param {string} text
 * @param {string} version
 * @param {string} day such as 2026-11-29
 */
export function releasedChangelog(text, version, day) {
  if (changesOf(text, version) !== undefined) return text;
  if (!text.includes(`\n${unreleased(version)}\n`))
    throw new Error(`CHANGELOG.md: expected the heading "${unreleased(version)}", with what has changed below it.`);
  return text
    .replace(/^(# .*\n)[^]*?(?=\n## )/, '$1')
    .replace(`\n${unreleased(version)}\n`, `\n## ${version} (${day})\n`);
}

/**
 * Returns what the changelog says of a version that has a day.
 * @param {string} text
 * @param {string} version
 */
export function changesOf(text, version) {
  const [, changes] = text.split(new RegExp(`^## ${version.replaceAll('.', '\\.')} \\(\\d{4}-\\d\\d-\\d\\d\\)\n`, 'm'));
  return changes?.split(/^## /m)[0].trim();
}

/**
 * Returns a package's manifest, or its lock file, with another version: the first ones in it are its own.
 * @param {string} text
 * @param {string} version
 */
export function withVersion(text, version) {
  const own = JSON.parse(text).version;
  const times = text.includes('"lockfileVersion"') ? 2 : 1;
  return text
    .split(`"version": "${own}"`)
    .map((part, index) => (index === 0 ? part : `"version": "${index <= times ? version : own}"${part}`))
    .join('');
}

/**
 * Returns why a version cannot be published; an empty list if nothing stands in the way.
 * @param {object} about
 * @param {string} about.version
 * @param {Readonly<Record<string, unknown>>} about.manifest of the package
 * @param {string | undefined} about.repository its address
 * @param {string} about.changelog
 * @param {Readonly<Record<string, string>>} about.pages texts for users, by their paths
 * @param {Readonly<Record<string, string | undefined>>} about.env
 * @param {boolean} about.isClean whether everything is committed
 */
export function obstacles({ version, manifest, repository, changelog, pages, env, isClean }) {
  const unpublished = Object.entries(pages).filter(([, text]) =>
    /not published yet|No version is published/.test(text),
  );
  return [
    ...(manifest.version === version
      ? []
      : [`package.json has the version ${manifest.version}: npm run release -- ${version}`]),
    ...(changesOf(changelog, version) ? [] : [`CHANGELOG.md has no day for ${version}: npm run release -- ${version}`]),
    ...unpublished.map(([path]) => `${path} says that the package is not published yet: change that sentence`),
    ...(repository
      ? []
      : [
          'the address of the repository is not known, which the packages name and provenance proves: git remote add origin URL',
        ]),
    ...(isClean ? [] : ['there are changes that are not committed']),
    ...(env['ACTIONS_ID_TOKEN_REQUEST_URL'] || env['SIGSTORE_ID_TOKEN']
      ? []
      : [
          'provenance is signed in GitHub Actions or GitLab CI alone: push the tag, and .github/workflows/release.yml publishes',
        ]),
    ...(env['NODE_AUTH_TOKEN']
      ? []
      : ['NODE_AUTH_TOKEN is missing: a granular token of npm that may publish both packages']),
  ];
}
