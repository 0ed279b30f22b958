/** Returns data as a server-sent event, as the clients of OpenAI's API read it. */
export function serverSentEvent(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
