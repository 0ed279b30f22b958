/** Workers as modules: then each loads the engine that it needs, and no other. */
export default { worker: { format: 'es' } };
