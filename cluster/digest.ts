import { createHash } from 'node:crypto';

/** So many hexadecimal digits that stand for the text. */
export function digest(text: string, length: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, length);
}
