import webpack from 'webpack';

// Not minified, which would take minutes for all engines, twice: webpack-small shows what minifying does.
webpack({ mode: 'production', optimization: { minimize: false } }, (error, stats) => {
  if (stats) console.log(stats.toString({ colors: false, modules: false }));
  if (error) console.error(error);
  if (error || stats.hasErrors()) process.exitCode = 1;
});
