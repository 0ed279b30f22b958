import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
console.log((await languages.ping()) < 1000); // true: it is a millisecond or less
