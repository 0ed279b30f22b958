import { load, type TabServeError } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
const pending = languages.predict('Wo ist der Bahnhof?');
await languages.dispose();
await pending.catch((error: TabServeError) => console.log(error.code)); // disposed
