/** A page of the gallery. */
export interface Exhibit {
  /** The page in its address: `backends` in `#/backends`. */
  readonly id: string;
  readonly title: string;
  /** One or two sentences, under the title. */
  readonly summary?: string;
  mount(announce: (text: string) => void): Exhibited;
}

export interface Exhibited {
  readonly element: HTMLElement;
  /** Without it, nothing is done with files. */
  readonly files?: FileTaker;
  dispose(): void;
}

export interface FileTaker {
  /**
   * Takes a file that is dropped or pasted. Without it the page takes none.
   * @param item tells whether it is a folder
   */
  take?(file: File, item?: DataTransferItem): void;
  /** Is called when what was dropped or pasted holds no file, or the page takes none. */
  refused(error: unknown): void;
}
