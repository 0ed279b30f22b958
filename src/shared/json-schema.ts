/**
 * The validator of JSON Schema. At import, the library makes a URL of `location`, which throws in a worker whose script
 * is a Blob; so the build replaces this module with a bundle of the library that does not read it.
 */
export { Validator, type Schema } from '@cfworker/json-schema';
