/** A library that is loaded when it is used: what its file exports, and who loads the file. */
export interface Library {
  readonly entry: string;
  readonly needsCore?: boolean;
  readonly inModules: boolean;
}

export const LIBRARIES: Readonly<Record<string, Library>>;
