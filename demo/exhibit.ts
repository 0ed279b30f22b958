/** A page with its own layout, instead of a demo's input and result. */
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
  /** Takes files that are dropped, pasted or chosen. Without it the page takes none. */
  readonly files?: {
    take(file: File): void;
    /** Is called when what was dropped or pasted holds no file. */
    refused(error: unknown): void;
  };
  dispose(): void;
}
