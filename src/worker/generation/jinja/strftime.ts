/** Python's `datetime.strftime`, in the locale C. */
import type { Budget } from './budget.js';
import { unsupported } from './errors.js';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAY = 86_400_000;

/** Returns the local time in a format such as `%d %b %Y`. @throws `unsupported` for a code that is not known */
export function strftime(time: Date, format: string, budget: Budget): string {
  budget.step(format.length);
  return format.replace(/%([-_0^#]?)([^])/g, (_, flag: string, code: string) => {
    const text = valueOf(time, code, budget);
    budget.make(text.length);
    if (flag === '-' || flag === '_')
      return text.replace(/^0+(?=\d)/, (zeros) => (flag === '-' ? '' : ' '.repeat(zeros.length)));
    return flag === '^' ? text.toUpperCase() : text;
  });
}

function valueOf(time: Date, code: string, budget: Budget): string {
  const two = (value: number): string => String(value).padStart(2, '0');
  const [year, month, date, weekday, hours] = [
    time.getFullYear(),
    time.getMonth(),
    time.getDate(),
    time.getDay(),
    time.getHours(),
  ];
  const midnight = Date.UTC(year, month, date);
  const dayOfYear = Math.round((midnight - Date.UTC(year, 0, 1)) / DAY) + 1;
  const all = (format: string): string => strftime(time, format, budget);
  switch (code) {
    case 'a':
      return DAYS[weekday]!.slice(0, 3);
    case 'A':
      return DAYS[weekday]!;
    case 'b':
    case 'h':
      return MONTHS[month]!.slice(0, 3);
    case 'B':
      return MONTHS[month]!;
    case 'c':
      return all('%a %b %e %H:%M:%S %Y');
    case 'C':
      return two(Math.floor(year / 100));
    case 'd':
      return two(date);
    case 'D':
    case 'x':
      return all('%m/%d/%y');
    case 'e':
      return String(date).padStart(2);
    case 'f':
      return String(time.getMilliseconds() * 1000).padStart(6, '0');
    case 'F':
      return all('%Y-%m-%d');
    case 'G':
      return String(isoWeek(midnight, weekday).year);
    case 'H':
      return two(hours);
    case 'I':
      return two(hours % 12 || 12);
    case 'j':
      return String(dayOfYear).padStart(3, '0');
    case 'm':
      return two(month + 1);
    case 'M':
      return two(time.getMinutes());
    case 'n':
      return '\n';
    case 'p':
      return hours < 12 ? 'AM' : 'PM';
    case 'r':
      return all('%I:%M:%S %p');
    case 'R':
      return all('%H:%M');
    case 's':
      return String(Math.floor(time.getTime() / 1000));
    case 'S':
      return two(time.getSeconds());
    case 't':
      return '\t';
    case 'T':
    case 'X':
      return all('%H:%M:%S');
    case 'u':
      return String(weekday || 7);
    case 'U':
      return two(Math.floor((dayOfYear + 6 - weekday) / 7));
    case 'V':
      return two(isoWeek(midnight, weekday).week);
    case 'w':
      return String(weekday);
    case 'W':
      return two(Math.floor((dayOfYear + 6 - ((weekday + 6) % 7)) / 7));
    case 'y':
      return two(year % 100);
    case 'Y':
      return String(year);
    // A time without a zone has none.
    case 'z':
    case 'Z':
      return '';
    case '%':
      return '%';
    default:
      throw unsupported(`the time format %${code}`);
  }
}

/** Returns the week by ISO 8601: it belongs to the year of its Thursday. */
function isoWeek(midnight: number, weekday: number): { readonly year: number; readonly week: number } {
  const thursday = new Date(midnight + (4 - (weekday || 7)) * DAY);
  const year = thursday.getUTCFullYear();
  return { year, week: Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / DAY / 7) + 1 };
}
