import { load } from 'tabserve';

const languages = await load('/models/languages/', { handler: 'text_classifier' });
console.log(languages.diagnose().includes('languages')); // true: versions, backends, and what happened
