import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';

/** What Node's parser reports, by its code: the status, and words that can be followed. */
const REASONS: Readonly<Record<string, readonly [status: string, why: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', 'Its headers are too large: 16 kB at most.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['413 Payload Too Large', 'The extensions of its chunks are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'It has not arrived within the time limit.'],
};
const NO_HTTP = [
  '400 Bad Request',
  'It is not HTTP/1.1 or HTTP/1.0: a body needs the header Content-Length; for https and HTTP/2, put a reverse proxy before this server.',
] as const;

/**
 * Answers what cannot be read as a request, and closes its connection.
 * @param error of Node's event `clientError`
 * @param answers those that are not sent completely
 */
export function refuseUnreadable(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  answers: Iterable<Pick<ServerResponse, 'socket' | 'headersSent'>>,
): void {
  const hasBegun = [...answers].some((one) => one.socket === socket && one.headersSent);
  if (!socket.writable || hasBegun || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, why] = REASONS[error.code ?? ''] ?? NO_HTTP;
  const message = `The request cannot be read. ${why} (${error.message})`;
  const body = JSON.stringify({ code: parseInt(status, 10), type: 'BadRequestException', message });
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}
