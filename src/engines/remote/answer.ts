import { isRecord } from '../../shared/schema.js';

/** What a server has answered, whatever its status. */
export interface Answer {
  /** The request's URL. */
  readonly url: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: ArrayBuffer;
}

/** The most characters of a server's own message. */
const LONGEST = 200;
/** The most bytes of a body in which a message is looked for. */
const MOST_READ = 10_000;

/** Returns whether a server has answered the request: with any status of 200 to 299, and not with a page. */
export function isOk(answer: Answer): boolean {
  return answer.status >= 200 && answer.status < 300 && !isHtml(answer);
}

function isHtml({ headers }: Answer): boolean {
  return /\bhtml\b/i.test(headers.get('content-type') ?? '');
}

/** Describes an answer that is not the wanted one: its URL and status, and what the server says, short and printable. */
export function describeAnswer(answer: Answer): string {
  const { url, status, body } = answer;
  const said = isHtml(answer) ? 'HTML, so it is probably no server of models' : messageIn(body);
  return `${url} answered ${status}${said === '' ? '' : `: ${said}`}`;
}

/** Returns the message of an error's body: `error` in the Open Inference Protocol, `message` in TorchServe, `detail` in FastAPI; otherwise its text. */
function messageIn(body: ArrayBuffer): string {
  const text = new TextDecoder().decode(body.slice(0, MOST_READ));
  let said: unknown = text;
  try {
    const json: unknown = JSON.parse(text);
    if (isRecord(json))
      said = ['error', 'message', 'detail'].map((key) => json[key]).find((one) => typeof one === 'string');
  } catch {
    // It is not JSON.
  }
  const printable = String(said ?? text)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return printable.length > LONGEST ? `${printable.slice(0, LONGEST)}…` : printable;
}
