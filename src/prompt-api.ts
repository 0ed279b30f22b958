/** The Prompt API, `LanguageModel` of browsers, over a model of the app's. */
export {
  languageModel,
  type LanguageModel,
  type OpenPromptClient,
  type PromptClient,
} from './page/prompt-api/language-model.js';
export type { LanguageModelSession } from './page/prompt-api/session.js';
export type {
  Availability,
  AvailabilityOptions,
  CreateOptions,
  Expected,
  PromptInput,
  PromptMessage,
  PromptOptions,
  PromptPart,
  PromptTool,
} from './page/prompt-api/specification.js';
