let ahead = Date.now() - performance.now();
let checked = performance.now();

/** The wall's clock, which knows milliseconds, and between them the one that knows more: they are compared once in a millisecond. */
export function preciseNow(): number {
  const now = performance.now();
  if (now - checked < 1) return ahead + now;
  checked = now;
  const wall = Date.now();
  if (Math.abs(ahead + now - wall) >= 2) ahead = wall - now;
  return ahead + now;
}

/** Microseconds of a millisecond, as three digits. */
const micros = Array.from({ length: 1000 }, (_, i) => `${String(i).padStart(3, '0')}Z`);

/** Times as `2026-01-02T03:04:05.678901Z`. Most of one is as that of the one before. */
export class TimeText {
  #millis = Number.NaN;
  #text = '';

  of(time: number): string {
    const millis = Math.floor(time);
    if (millis !== this.#millis) {
      this.#millis = millis;
      this.#text = new Date(millis).toISOString().slice(0, -1);
    }
    return this.#text + (micros[Math.floor((time - millis) * 1000)] ?? '');
  }
}
