import { createHash } from 'node:crypto';
import type https from 'node:https';
import { createSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls';

/** Of so many, whose authorities are no longer in all than so many characters. */
const mostKept = 1_000;
const mostCharacters = 4 << 20;

type Read = Pick<SecureContextOptions, 'ca' | 'cert' | 'key'>;

/** What was read of authorities and of who asks: to read a certificate takes the thread a third of a millisecond, and a bundle may have thousands. */
export class Contexts {
  readonly #kept = new Map<string, { context: SecureContext; characters: number }>();
  #characters = 0;

  of({ ca, cert, key }: Read): SecureContext {
    const name = nameOf([ca, cert, key]);
    const known = this.#kept.get(name);
    if (known) return known.context;
    const context = createSecureContext({
      ...(ca !== undefined && { ca }),
      ...(cert !== undefined && { cert }),
      ...(key !== undefined && { key }),
      minVersion: 'TLSv1.2',
    });
    const characters = String(ca ?? '').length;
    this.#characters += characters;
    this.#kept.set(name, { context, characters });
    for (const [oldest, { characters: length }] of this.#kept) {
      if (this.#kept.size <= mostKept && this.#characters <= mostCharacters) break;
      this.#kept.delete(oldest);
      this.#characters -= length;
    }
    return context;
  }
}

/** Has the agent read each bundle once, for all connections that trust it. */
export function readOnce<A extends https.Agent>(agent: A, contexts: Contexts): A {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, callback) => {
    const { ca, cert, key } = options as Read;
    return connect({ ...options, secureContext: contexts.of({ ca, cert, key }) } as never, callback);
  };
  return agent;
}

function nameOf(parts: readonly unknown[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part === undefined ? '-' : `${String(part).length}:${part}`);
  return hash.digest('base64');
}
