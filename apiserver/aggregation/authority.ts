import { X509Certificate } from 'node:crypto';
import { type Store, StoreError } from '../../storage/store.ts';
import { internalPrefix } from '../registry/keys.ts';
import { createAuthority, type Issued, loadAuthority } from '../tls/ca.ts';

/** In the certificate by which we are known to the API servers of a logical cluster. */
export const proxyName = 'front-proxy-client';

interface Stored {
  /** Signs our certificate for that logical cluster, and nothing else. */
  requestHeader: Issued;
  /** Signs nobody: its key is nowhere. */
  clientCa: string;
}

/**
 * What a logical cluster's own API servers know us by: each has an authority of its own, so that no certificate is good
 * for two. It is made once, kept in the store where no API reads it, and goes with the logical cluster.
 */
export class RequestHeaderAuthorities {
  readonly #store: Store;
  readonly #known = new Map<string, { certificate: Promise<Issued>; renewAt: number }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The two authorities that are published there, in PEM. Of clients nobody is one: who has a certificate of this server's authority may be of another logical cluster. */
  async published(cluster: string): Promise<{ requestHeaderCa: string; clientCa: string }> {
    const { requestHeader, clientCa } = await this.#stored(cluster);
    return { requestHeaderCa: requestHeader.certificate, clientCa };
  }

  /** Ours, for that logical cluster's servers alone. */
  certificate(cluster: string): Promise<Issued> {
    const known = this.#known.get(cluster);
    if (known && Date.now() < known.renewAt) return known.certificate;
    if (this.#known.size >= mostKnown) this.#known.clear();
    const issued = { certificate: this.#issue(cluster), renewAt: Number.POSITIVE_INFINITY };
    this.#known.set(cluster, issued);
    issued.certificate.then(
      ({ certificate }) => {
        const { validFrom, validTo } = new X509Certificate(certificate);
        const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
        issued.renewAt = to - (to - from) / 3;
      },
      () => this.#known.get(cluster) === issued && this.#known.delete(cluster),
    );
    return issued.certificate;
  }

  async #issue(cluster: string): Promise<Issued> {
    const { requestHeader } = await this.#stored(cluster);
    return (await loadAuthority(requestHeader)).issueClient(proxyName, []);
  }

  /** Of several servers that make it at once one wins. */
  async #stored(cluster: string): Promise<Stored> {
    const key = `${internalPrefix}request-header/${cluster}/authority`;
    const read = async () => {
      const entry = await this.#store.get(key);
      return entry && (JSON.parse(Buffer.from(entry.value).toString()) as Stored);
    };
    const there = await read();
    if (there) return there;
    const [own, clients] = await Promise.all([
      createAuthority(`request-header of ${cluster}`),
      createAuthority(`nobody of ${cluster}`),
    ]);
    const { certificate, privateKey } = own;
    const made: Stored = { requestHeader: { certificate, privateKey }, clientCa: clients.certificate };
    try {
      await this.#store.create(key, Buffer.from(JSON.stringify(made)));
      return made;
    } catch (error) {
      const winner = error instanceof StoreError && error.code === 'exists' ? await read() : undefined;
      if (winner === undefined) throw error;
      return winner;
    }
  }
}

const mostKnown = 1000;
