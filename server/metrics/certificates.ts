import type { Expiration } from '../certificates.ts';
import { own } from './definitions.ts';
import { type Family, figures } from './family.ts';

/** When what the server is known by expires. */
export function certificateFamilies(expirations: readonly Expiration[]): Family[] {
  return [
    figures(
      own.expirations,
      expirations.map(({ certificate, until }) => [[certificate], until / 1000] as const),
    ),
  ];
}
