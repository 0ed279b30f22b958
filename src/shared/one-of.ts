/** An object with exactly one of the keys of `T`. */
export type OneOf<T> = { readonly [Key in keyof T]-?: { readonly [Own in Key]: Exclude<T[Key], undefined> } }[keyof T];
