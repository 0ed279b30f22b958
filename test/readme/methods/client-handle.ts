import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
const rows = await languages.handle(['Wo ist der Bahnhof?', '¿Dónde está la estación?']);
for (const row of rows) {
  if (row instanceof Error) console.error(row.message);
  else console.log(row[0]?.label); // German, then Spanish
}
