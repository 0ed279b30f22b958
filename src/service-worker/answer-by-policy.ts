import { ANSWERED_BY, FAILURES, REASON, type AnsweredBy, type Failure, type Policy } from './protocol.js';

/** An answer, or why there is none; with both, the response tells of the failure. */
export type Answer =
  | { readonly response: Response; readonly failure?: undefined }
  | { readonly response?: Response | undefined; readonly failure: Failure };

/** Those who may answer. Each is asked once at most. They throw only when the request was aborted. */
export interface Answerers {
  readonly device: () => Promise<Answer>;
  readonly server: () => Promise<Answer>;
}

const ORDER: Readonly<Record<Policy, readonly (keyof Answerers)[]>> = {
  'device-first': ['device', 'server'],
  'server-first': ['server', 'device'],
  'device-only': ['device'],
};

/** Has a request answered as its model's policy says. Its headers say who did, and why. */
export async function answerByPolicy(policy: Policy, answerers: Answerers): Promise<Response> {
  const failures: Partial<Record<keyof Answerers, Failure>> = {};
  let told: { readonly by: keyof Answerers; readonly response: Response } | undefined;
  for (const by of ORDER[policy]) {
    const { response, failure } = await answerers[by]();
    if (failure === undefined) {
      void told?.response.body?.cancel().catch(() => {});
      return marked(response, by, Object.values(failures)[0] ?? policy);
    }
    failures[by] = failure;
    if (response && told) void response.body?.cancel().catch(() => {});
    else if (response) told = { by, response };
  }
  // The first one's own error says most; the reason is why the other could not help.
  if (told) return marked(told.response, told.by, failures[told.by === 'device' ? 'server' : 'device'] ?? policy);
  return refusal(Object.values(failures));
}

/** Returns the response with the headers that say who answered and why. */
function marked(response: Response, by: AnsweredBy, reason: Failure | Policy): Response {
  // A page that did not ask for CORS cannot read the headers, and nobody can add any.
  if (response.type === 'opaque' || response.type === 'opaqueredirect' || response.type === 'error') return response;
  const { status, statusText } = response;
  const headers = new Headers(response.headers);
  headers.set(ANSWERED_BY, by);
  headers.set(REASON, reason);
  return new Response(response.body, { status, statusText, headers });
}

/** Returns the service worker's own response when nobody else can answer: an error as TorchServe writes them. */
function refusal(failures: readonly Failure[]): Response {
  const isTooLarge = failures.includes('body-too-large');
  const message = failures.map((failure) => FAILURES[failure]).join(' ');
  const [code, type] = isTooLarge ? [413, 'RequestEntityTooLargeException'] : [503, 'ServiceUnavailableException'];
  return marked(Response.json({ code, type, message }, { status: code as number }), 'none', failures[0]!);
}
