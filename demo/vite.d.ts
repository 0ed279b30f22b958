/** What Vite puts into the gallery's scripts. */

/** The version of the package. */
declare const VERSION: string;

interface ImportMeta {
  /** `PROD`: whether this is the built gallery. */
  readonly env: { readonly PROD: boolean };
}

/** A stylesheet, which is loaded with the script. */
declare module '*.css';

/** The text of a file. */
declare module '*?raw' {
  const text: string;
  export default text;
}

/** The documentation and the model cards: `scripts/vite/documents.ts`. */
declare module 'virtual:documents' {
  const documents: readonly {
    /** The page in its address: `docs/healing`, `models/selfie`. */
    readonly id: string;
    readonly title: string;
    /** The heading under which it is listed. */
    readonly group: string;
    /** Returns its HTML, without the title. */
    load(): Promise<string>;
  }[];
  export default documents;
}
