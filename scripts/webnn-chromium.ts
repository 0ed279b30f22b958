import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromiumArgs } from './chromium.ts';

const unpacked = fileURLToPath(new URL('../.cache/webnn/chromium', import.meta.url));

/**
 * A Chromium whose WebNN works: WEBNN_CHROMIUM_PATH, or the one that `npm run webnn` has installed; undefined if there
 * is none.
 */
export const webnnPath = process.env['WEBNN_CHROMIUM_PATH'] ?? (existsSync(unpacked) ? unpacked : undefined);

/** The reason for a skip where there is none. */
export const NO_WEBNN = 'WebNN needs a Chromium that has it: npm run webnn installs one, on Linux';

/** Its flags. */
export const webnnArgs = [...chromiumArgs.wasm, '--enable-features=WebMachineLearningNeuralNetwork'] as const;
