/** A page of its own kind, which stands in the place of a demo's input and result. */
export interface Exhibit {
  /** Its part of the address: `#/backends`. */
  readonly id: string;
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary: string;
  mount(announce: (text: string) => void): Exhibited;
}

export interface Exhibited {
  readonly element: HTMLElement;
  /** What becomes of files; none are taken where it is missing. */
  readonly files?: {
    take(file: File): void;
    /** There was no file in what was dropped or pasted. */
    refused(error: unknown): void;
  };
  dispose(): void;
}
