/** The forms by their names, and which one a template writes. */
import { deepseek } from './deepseek.js';
import type { ToolCallForm } from './form.js';
import { gemma } from './gemma.js';
import { glm } from './glm.js';
import { gptOss } from './gpt-oss.js';
import { hermes } from './hermes.js';
import { llama3Json } from './llama3-json.js';
import { mistral } from './mistral.js';
import type { ToolCallFormat } from './tool-choice.js';
import { pythonic } from './pythonic.js';
import { qwen3Coder } from './qwen3-coder.js';

/** The first whose sign a template has is its own, so forms that share their marks come before the general ones. */
export const FORMS: Readonly<Record<ToolCallFormat, ToolCallForm>> = {
  'gpt-oss': gptOss,
  deepseek,
  mistral,
  gemma,
  'qwen3-coder': qwen3Coder,
  glm,
  hermes,
  'llama3-json': llama3Json,
  pythonic,
};

/** Returns the form of calls that a chat template writes; undefined for one that is not known. */
export function formOf(template: string): ToolCallForm | undefined {
  return Object.values(FORMS).find(({ sign }) => sign.test(template));
}
