interface Bounds {
  low: number;
  high: number;
  names: Record<string, number>;
}

const numbered = (words: string, first: number) =>
  Object.fromEntries(words.split(' ').map((word, index) => [word, index + first]));

const fields: Bounds[] = [
  { low: 0, high: 59, names: {} },
  { low: 0, high: 23, names: {} },
  { low: 1, high: 31, names: {} },
  { low: 1, high: 12, names: numbered('jan feb mar apr may jun jul aug sep oct nov dec', 1) },
  { low: 0, high: 6, names: numbered('sun mon tue wed thu fri sat', 0) },
];

const descriptors = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@midnight', '@hourly'];

/** Why `schedule` is none, in the words of the parser that Kubernetes uses; undefined when it is one. */
export function scheduleError(schedule: string): string | undefined {
  const spec = schedule.replace(/^(?:CRON_)?TZ=\S+\s*/, '').trim();
  if (spec.startsWith('@')) return descriptorError(spec);
  const words = spec.split(/\s+/).filter(Boolean);
  if (words.length !== 5) return `expected exactly 5 fields, found ${words.length}: [${words.join(' ')}]`;
  for (const [index, word] of words.entries()) {
    const bounds = fields[index];
    if (!bounds) continue;
    for (const part of word.split(',').filter(Boolean)) {
      const error = rangeError(part, bounds);
      if (error) return error;
    }
  }
  return undefined;
}

function descriptorError(spec: string): string | undefined {
  if (descriptors.includes(spec)) return undefined;
  const every = /^@every (.+)$/.exec(spec);
  if (!every) return `unrecognized descriptor: ${spec}`;
  const duration = every[1] ?? '';
  if (/^(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+$/.test(duration)) return undefined;
  return `failed to parse duration ${spec}: time: invalid duration ${JSON.stringify(duration)}`;
}

function numberOf(word: string, bounds: Bounds): number | string {
  const named = bounds.names[word.toLowerCase()];
  if (named !== undefined) return named;
  if (/^[+]?\d+$/.test(word)) return Number(word);
  if (/^-\d+$/.test(word)) return `negative number (${word}) not allowed: ${word}`;
  return `failed to parse int from ${word}: strconv.Atoi: parsing ${JSON.stringify(word)}: invalid syntax`;
}

function rangeError(part: string, bounds: Bounds): string | undefined {
  const [range = '', step, more] = part.split('/');
  const [first = '', last, extra] = range.split('-');
  let start: number | string = bounds.low;
  let end: number | string = bounds.high;
  if (first !== '*' && first !== '?') {
    start = numberOf(first, bounds);
    if (typeof start === 'string') return start;
    end = last === undefined ? (step === undefined ? start : bounds.high) : numberOf(last, bounds);
    if (typeof end === 'string') return end;
    if (extra !== undefined) return `too many hyphens: ${part}`;
  }
  if (more !== undefined) return `too many slashes: ${part}`;
  const every = step === undefined ? 1 : numberOf(step, { ...bounds, names: {} });
  if (typeof every === 'string') return every;
  if (start < bounds.low) return `beginning of range (${start}) below minimum (${bounds.low}): ${part}`;
  if (end > bounds.high) return `end of range (${end}) above maximum (${bounds.high}): ${part}`;
  if (start > end) return `beginning of range (${start}) beyond end of range (${end}): ${part}`;
  if (every === 0) return `step of range should be a positive number: ${part}`;
  return undefined;
}
