/** Returns the sections of the index of methods, by what stands in its comments. */
export function methodSections(): Readonly<Record<string, string>>;

/** Returns the page of each method, by its path. */
export function methodPages(): Readonly<Record<string, string>>;
