/** Formats of JSON Schema as patterns: each of their texts is one of the format, but not all are. */
const OCTET = String.raw`(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)`;
const HEX = '[0-9a-fA-F]';
// Labels have at most 63 characters.
const LABEL = '[a-zA-Z0-9]{1,20}(?:-[a-zA-Z0-9]{1,20}){0,2}';
const HOST = String.raw`${LABEL}(?:\.${LABEL}){0,2}`;
const DATE = String.raw`\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)|02-(?:0[1-9]|1\d|2[0-8]))|(?:(?:\d\d)(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29`;
const TIME = String.raw`(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)`;
const DAYS = String.raw`(?:\d{1,9}Y(?:\d{1,9}M(?:\d{1,9}D)?)?|\d{1,9}M(?:\d{1,9}D)?|\d{1,9}D)`;
const HOURS = String.raw`T(?:\d{1,9}H(?:\d{1,9}M(?:\d{1,9}S)?)?|\d{1,9}M(?:\d{1,9}S)?|\d{1,9}S)`;
// A path, a query, or both.
const AFTER_HOST = String.raw`(?:[/?](?:[a-zA-Z0-9._~!$&'()*+,;=:@/?-]|%${HEX}{2}){0,400})?`;
const URI = String.raw`(?:https?|wss?|ftp)://${HOST}(?::\d{1,5})?${AFTER_HOST}`;
const UUID = (version: string): string => `^${HEX}{8}-${HEX}{4}-${version}${HEX}{3}-[89abAB]${HEX}{3}-${HEX}{12}$`;

/** Those of JSON Schema 2020-12, and those that pydantic writes. */
export const FORMATS: Readonly<Record<string, string>> = {
  date: `^(?:${DATE})$`,
  time: `^${TIME}$`,
  'date-time': `^(?:${DATE})T${TIME}$`,
  duration: String.raw`^P(?:${DAYS}(?:${HOURS})?|${HOURS}|\d{1,9}W)$`,
  email: String.raw`^[a-zA-Z0-9_+-]{1,20}(?:\.[a-zA-Z0-9_+-]{1,20}){0,2}@${LABEL}(?:\.${LABEL})?\.[a-zA-Z]{2,24}$`,
  hostname: `^${HOST}$`,
  ipv4: String.raw`^${OCTET}(?:\.${OCTET}){3}$`,
  ipv6: `^(?:${HEX}{1,4}:){7}${HEX}{1,4}$`,
  uri: `^${URI}$`,
  'uri-reference': `^(?:${URI}|(?:/[a-zA-Z0-9._~-]{1,64}){0,8})$`,
  uuid: UUID('[1-8]'),
  'json-pointer': '^(?:/(?:[^~/]|~0|~1){0,64}){0,8}$',
  ...Object.fromEntries([1, 3, 4, 5, 6, 7, 8].map((version) => [`uuid${version}`, UUID(String(version))])),
  base64: '^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
  base64url: '^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2,3})?$',
  // Those of any text.
  password: '',
  path: '',
  'file-path': '',
  'directory-path': '',
};
