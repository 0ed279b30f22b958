/** A page of the gallery. */
export interface Exhibit {
  /** The hash of its address: `#/backends`. */
  readonly id: string;
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary: string;
  mount(announce: (text: string) => void): Exhibited;
}

export interface Exhibited {
  readonly element: HTMLElement;
  readonly files?: {
    /** Takes a file that is dropped or pasted. Without it the page takes none. */
    take?(file: File): void;
    /** Is called when what was dropped or pasted holds no file, or the page takes none. */
    refused(error: unknown): void;
  };
  dispose(): void;
}
