import { TabServeError } from '../../../contract/errors.js';
import { hubRepositoryOf } from '../../../shared/hub.js';

/**
 * Returns the error for what the Hub says in `X-Error-Code` about a repository; undefined if it says only that a file is
 * missing, or something else.
 * @param url of a file, or of the Hub's API
 * @param headers those of the app
 * @see huggingface_hub, `utils/_http.py`: `hf_raise_for_status`
 */
export function hubError(
  { headers }: Response,
  url: URL,
  sent: Readonly<Record<string, string>> = {},
): TabServeError | undefined {
  const [name, revision] = namesIn(url);
  const page = `https://huggingface.co/${name}`;
  const hasToken = Object.keys(sent).some((one) => one.toLowerCase() === 'authorization');
  const token = `with the option request: { headers: { Authorization: 'Bearer hf_…' } }`;
  switch (headers.get('x-error-code')) {
    case 'RepoNotFound':
      return new TabServeError(
        'model-not-found',
        hasToken
          ? `The Hub has no model ${name}, or the token may not read it. Check the spelling, and what the token may read.`
          : `The Hub has no public model ${name}. Check the spelling: the name may be misspelled. If it is private, pass a token ${token}.`,
      );
    case 'GatedRepo':
      return new TabServeError(
        'network',
        hasToken
          ? `${name} is gated, and the token's user has no access yet. Accept its conditions at ${page}, or wait until its authors have agreed.`
          : `${name} is gated: its conditions must be accepted. Accept them at ${page}, and pass a token of that user ${token}.`,
      );
    case 'RevisionNotFound':
      return new TabServeError(
        'model-not-found',
        `${name} has no revision ${revision}: expected a branch, a tag or a commit. ${page}/tree/main is its usual branch, and lists the others.`,
      );
    case 'DisabledRepo':
      return new TabServeError('model-not-found', `The Hub has disabled ${name}. ${page} says why.`);
    default:
      return undefined;
  }
}

/** Returns the names of the repository and of the revision. */
function namesIn(url: URL): readonly [name: string, revision: string] {
  const repository = hubRepositoryOf(url);
  const [, name = '', revision = 'main'] =
    /^\/api\/models\/([^/]+\/[^/]+)\/revision\/([^/]+)/.exec(url.pathname) ??
    ([undefined, repository?.name, repository?.revision] as const);
  return [name, decodeURIComponent(revision)];
}
