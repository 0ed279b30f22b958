/** A folder of static files. */
export default { output: 'export', devIndicators: false };
