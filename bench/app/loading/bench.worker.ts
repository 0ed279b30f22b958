import { expose, ImageClassifier } from '../../../src/worker.ts';

expose(ImageClassifier);
