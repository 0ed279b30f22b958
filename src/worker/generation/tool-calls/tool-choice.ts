/** What a request says of calls of tools. */

/** The names of the forms in which models write calls. */
export type ToolCallFormat =
  | 'deepseek'
  | 'gemma'
  | 'glm'
  | 'gpt-oss'
  | 'hermes'
  | 'llama3-json'
  | 'mistral'
  | 'pythonic'
  | 'qwen3-coder';

/** The tool that an answer calls. */
export interface NamedTool {
  /** Its name. */
  readonly name: string;
}

/** Which tools an answer calls: none, as the model decides, at least one, or the named one. */
export type ToolChoice = 'none' | 'auto' | 'required' | NamedTool;
