/** The fields of a document, as Donut writes them: `<s_total><s_price>12</s_price></s_total>`. */

/** A text, a list, or fields by their names. */
export type DocumentFields = string | readonly DocumentFields[] | { readonly [name: string]: DocumentFields };

const SEPARATOR = '<sep/>';

/**
 * Reads what Donut has written, as transformers' `DonutProcessor.token2json` does.
 * @param isToken whether a text is a token of the vocabulary: such a `<yes/>` is the value "yes"
 * @returns `{ text_sequence }` for a text without fields
 */
export function readFields(text: string, isToken: (text: string) => boolean): DocumentFields {
  const found = fieldsIn(text, isToken);
  // Several groups are a list.
  if (found.isList) return found.groups;
  return found.groups[0] ?? { text_sequence: found.rest };
}

interface Fields {
  readonly groups: readonly DocumentFields[];
  /** Whether separators stand between groups. */
  readonly isList: boolean;
  /** What is left of the text. */
  readonly rest: string;
}

function fieldsIn(text: string, isToken: (text: string) => boolean): Fields {
  const fields = new Map<string, DocumentFields>();
  let rest = text;
  for (let start = OPENING.exec(rest); start; start = OPENING.exec(rest)) {
    const [opening, name] = start as unknown as readonly [string, string];
    const closing = new RegExp(escaped(`</s_${name}>`), 'i').exec(rest)?.[0];
    if (closing === undefined) {
      rest = rest.replaceAll(opening, '');
      continue;
    }
    // None if the closing tag stands before the opening one.
    const content = new RegExp(`${escaped(opening)}([^]*?)${escaped(closing)}`, 'i').exec(rest)?.[1];
    const value = content === undefined ? undefined : valueOf(content.trim(), isToken);
    if (value !== undefined) fields.set(name, value);
    rest = rest.slice(rest.indexOf(closing) + closing.length).trim();
    if (rest.startsWith(SEPARATOR)) {
      const { groups } = fieldsIn(rest.slice(SEPARATOR.length), isToken);
      return { groups: [Object.fromEntries(fields), ...groups], isList: true, rest };
    }
  }
  return { groups: fields.size > 0 ? [Object.fromEntries(fields)] : [], isList: false, rest };
}

const OPENING = /<s_([^>]*)>/i;

/** Returns the value of a field; undefined for one whose fields are all empty. */
function valueOf(content: string, isToken: (text: string) => boolean): DocumentFields | undefined {
  if (content.includes('<s_') && content.includes('</s_')) {
    const { groups } = fieldsIn(content, isToken);
    return groups.length > 1 ? groups : groups[0];
  }
  const values = content.split(SEPARATOR).map((part) => {
    const value = part.trim();
    return /^<.*\/>$/s.test(value) && isToken(value) ? value.slice(1, -2) : value;
  });
  return values.length > 1 ? values : values[0];
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
