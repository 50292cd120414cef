/** RFC 3339 in UTC and whole seconds, as Kubernetes writes times; of now, if no other time is given. */
export function timestamp(time: Date | number = Date.now()): string {
  const millis = Number(time);
  const second = Math.floor(millis / 1000);
  if (second !== last.second) last = { second, text: `${new Date(millis).toISOString().slice(0, 19)}Z` };
  return last.text;
}

/** Thousands are asked for in one second. */
let last = { second: Number.NaN, text: '' };
