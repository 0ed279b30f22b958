/** TorchServe's file that says what an archive is. */
export const MANIFEST = 'MAR-INF/MANIFEST.json';
/** The file in which an archive says what TorchServe's manifest has no place for. */
export const EXTRAS = 'tabserve.json';
/** TorchServe's name for the file with the labels. */
export const LABELS = 'index_to_name.json';
