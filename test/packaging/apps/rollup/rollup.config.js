import commonjs from '@rollup/plugin-commonjs';
import resolve from '@rollup/plugin-node-resolve';

/** One entry for the page, and one for each worker of the app. */
export default {
  input: ['src/main.js', 'src/odd-or-even.worker.js'],
  output: { dir: 'public', format: 'es' },
  plugins: [resolve({ browser: true }), commonjs()],
};
