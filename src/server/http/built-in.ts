/**
 * A built-in handler's name. A class of the app's own has the class's name, and only its answer shows what it makes.
 */
export const IS_BUILT_IN = /^[a-z]+(_[a-z]+)+$/;
