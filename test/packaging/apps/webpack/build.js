import webpack from 'webpack';

webpack({ mode: 'production' }, (error, stats) => {
  if (stats) console.log(stats.toString({ colors: false, modules: false }));
  if (error) console.error(error);
  if (error || stats.hasErrors()) process.exitCode = 1;
});
