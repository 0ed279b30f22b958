import type { Demo } from '../demo.js';
import { detection } from './detection.js';
import { digits } from './digits.js';
import { language } from './language.js';
import { orientation } from './orientation.js';
import { segmentation } from './segmentation.js';

/** The gallery, in the order of its tabs. */
export const DEMOS: readonly [Demo, ...Demo[]] = [detection, segmentation, language, digits, orientation];
