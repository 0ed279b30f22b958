/** An error whose message is written for the visitor: what happened, and what to do. */
export class Explained extends Error {
  override readonly name: string = 'Explained';
}
