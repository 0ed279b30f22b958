/** What is searched: put your own texts here. */
export const TEXTS: readonly string[] = [
  'You can return an article within 30 days.',
  'We deliver to all countries of the EU.',
  'Your password is reset by a link in an e-mail.',
  'Parcels arrive within three working days.',
  'We take credit cards, PayPal and bank transfers.',
  'The battery lasts for about ten hours.',
  'Our shop in Hamburg is open from Monday to Saturday.',
  'The warranty covers defects for two years.',
];

/** Questions to begin with. */
export const QUESTIONS: readonly string[] = ['When are you open?', 'I cannot log in', 'How do I pay?'];
