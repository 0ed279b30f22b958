/** Splits an answer, as it is written, into its text, its reasoning and its calls of tools. */
import type { ReasoningMarks } from '../reasoning.js';
import { overlap } from '../text-streamer.js';
import type { ToolCallForm, Tools, WrittenCall } from './form.js';

/** A part of an answer, in the order in which it is written. */
export type AnswerPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'reasoning'; readonly text: string }
  | { readonly kind: 'call'; readonly call: WrittenCall };

/** What an answer is read by. */
export interface AnswerMarks {
  readonly reasoning: ReasoningMarks | undefined;
  /** Whether the answer begins within reasoning. */
  readonly isReasoning: boolean;
  /** Undefined where calls are text. */
  readonly form: ToolCallForm | undefined;
  readonly tools: Tools;
}

/**
 * Reads one answer. What it gives, no later text changes. Spaces beside a mark are dropped at the beginning and at the end
 * of the text, and of the reasoning.
 */
export class AnswerReader {
  readonly #marks: AnswerMarks;
  #mode: 'text' | 'reasoning' | 'calls';
  /** Text that may be the beginning of a mark. */
  #pending = '';
  /** Spaces that are dropped if nothing else follows. */
  readonly #spaces = { text: '', reasoning: '' };
  /** Whether nothing but spaces was read since the last mark. */
  #isAfterMark = false;
  readonly #has = { text: false, reasoning: false };
  /** Calls, as they are written: with the mark before them, and without. */
  #raw = '';
  #body = '';

  constructor(marks: AnswerMarks) {
    this.#marks = marks;
    this.#mode = marks.isReasoning ? 'reasoning' : 'text';
    this.#isAfterMark = marks.isReasoning;
  }

  /** Adds text. Returns the parts that are settled with it. */
  add(text: string): readonly AnswerPart[] {
    this.#pending += text;
    const parts: AnswerPart[] = [];
    for (;;) {
      if (this.#beginsUnmarked()) continue;
      const marks = this.#expected();
      const found = firstOf(this.#pending, marks);
      const end = found?.at ?? this.#pending.length - Math.max(0, ...marks.map((mark) => overlap(this.#pending, mark)));
      this.#take(this.#pending.slice(0, end), parts);
      this.#pending = this.#pending.slice(end + (found?.mark.length ?? 0));
      if (!found) return parts;
      this.#passMark(found.mark, parts);
    }
  }

  /** Returns the rest, when no text follows. @param isCut whether the answer has reached a limit */
  end(isCut: boolean): readonly AnswerPart[] {
    const parts: AnswerPart[] = [];
    this.#take(this.#pending, parts);
    this.#pending = '';
    if (this.#mode === 'calls') {
      const { form } = this.#marks;
      // Arguments may be missing of what has no end.
      if (isCut && form!.ends.length > 0) this.#endCalls(undefined, parts);
      else this.#endCalls(this.#parsed(), parts);
    } else if (this.#mode === 'text' && this.#spaces.text !== '' && !this.#isAfterMark)
      parts.push({ kind: 'text', text: this.#spaces.text });
    return parts;
  }

  /** Returns the marks that may come. */
  #expected(): readonly string[] {
    const { reasoning, form } = this.#marks;
    if (this.#mode === 'reasoning') return [reasoning!.end];
    if (this.#mode === 'calls') return form!.ends;
    return [...(form?.begins ?? []), ...(reasoning ? [reasoning.begin, ...reasoning.dropped] : [])];
  }

  /** Begins calls that nothing marks, at the start of the text. */
  #beginsUnmarked(): boolean {
    const { opening } = this.#marks.form ?? {};
    const begun = this.#pending.trimStart();
    if (this.#mode !== 'text' || this.#has.text || begun === '' || begun[0] !== opening) return false;
    this.#beginCalls('');
    return true;
  }

  #beginCalls(mark: string): void {
    this.#mode = 'calls';
    this.#raw = mark;
    this.#body = '';
  }

  #passMark(mark: string, parts: AnswerPart[]): void {
    const { reasoning, form } = this.#marks;
    if (this.#mode === 'calls') {
      const calls = this.#parsed();
      this.#raw += mark;
      this.#body += mark;
      // The mark may be a part of an argument.
      if (!calls) return;
      this.#endCalls(calls, parts);
    } else if (this.#mode === 'text' && form?.begins.includes(mark)) this.#beginCalls(mark);
    else this.#mode = this.#mode === 'text' && mark === reasoning?.begin ? 'reasoning' : 'text';
    this.#spaces.reasoning = '';
    this.#isAfterMark = true;
  }

  #parsed(): readonly WrittenCall[] | undefined {
    const { form, tools } = this.#marks;
    return form!.parse(this.#body, tools);
  }

  /** Ends calls. What is none stays text. */
  #endCalls(calls: readonly WrittenCall[] | undefined, parts: AnswerPart[]): void {
    this.#mode = 'text';
    if (!calls) parts.push({ kind: 'text', text: this.#spaces.text + this.#raw });
    for (const call of calls ?? []) parts.push({ kind: 'call', call });
  }

  /** Takes text that is no mark. */
  #take(text: string, parts: AnswerPart[]): void {
    if (this.#mode === 'calls') {
      this.#raw += text;
      this.#body += text;
      return;
    }
    const mode = this.#mode;
    const all = this.#spaces[mode] + text;
    const begun = this.#isAfterMark && !this.#has[mode] ? all.trimStart() : all;
    const kept = begun.trimEnd();
    this.#spaces[mode] = begun.slice(kept.length);
    if (kept === '') return;
    this.#isAfterMark = false;
    this.#has[mode] = true;
    parts.push({ kind: mode, text: kept });
  }
}

/** Returns the first of some marks in a text. */
function firstOf(text: string, marks: readonly string[]): { readonly at: number; readonly mark: string } | undefined {
  let first: { readonly at: number; readonly mark: string } | undefined;
  for (const mark of marks) {
    const at = text.indexOf(mark);
    if (at >= 0 && (!first || at < first.at)) first = { at, mark };
  }
  return first;
}
