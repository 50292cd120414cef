import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { ListenOptions } from '../apiserver/options.ts';
import type { Issued } from '../apiserver/tls/ca.ts';
import { type Clock, sleep, systemClock } from '../kube/clock.ts';
import type { Logger } from '../kube/log.ts';
import {
  type CertificateFiles,
  readAuthority,
  readServing,
  type Validity,
  validityOf,
} from './certificate-files.ts';
import { UsageError } from './errors.ts';
import type { Identity } from './identity.ts';

export type Tls = ListenOptions['tls'];

const checkMs = 10_000;
const dayMs = 86_400_000;

export interface CertificatesOptions {
  identity: Identity;
  files?: CertificateFiles | undefined;
  /** Who signs the certificates of trusted proxies. */
  proxyCaFile?: string | undefined;
  /** What the server shows to etcd, which follows the file by itself. */
  etcdFile?: string | undefined;
  logger: Logger;
  clock?: Clock;
}

export interface Expiration extends Validity {
  certificate: 'authority' | 'server' | 'administrator' | 'proxies' | 'etcd';
  /** By the server itself, long before. */
  renewed: boolean;
}

/** By which certificates the server and its administrator are known: issued ones, or the server's from files. */
export class Certificates {
  readonly #options: CertificatesOptions;
  readonly #clock: Clock;
  #identity: Identity;
  #own: Issued | undefined;
  #proxyCa: string | undefined;
  #etcd: string | undefined;
  /** Why files are not taken, each once. */
  readonly #refused = new Map<string, string>();
  /** With how many days left somebody was warned last. */
  readonly #warned = new Map<string, number>();

  private constructor(options: CertificatesOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#identity = options.identity;
  }

  /** Throws UsageError where the files are none to serve with. */
  static async load(options: CertificatesOptions): Promise<Certificates> {
    const { files, proxyCaFile } = options;
    const made = new Certificates(options);
    const refuse = (flag: string, file: string) => (error: Error) => {
      throw new UsageError(`--${flag} ${file}: ${error.message}`);
    };
    if (files) made.#own = await readServing(files).catch(refuse('tls-cert-file', files.certificate));
    if (proxyCaFile !== undefined)
      made.#proxyCa = await readAuthority(proxyCaFile).catch(
        refuse('requestheader-client-ca-file', proxyCaFile),
      );
    await made.#rereadEtcd();
    made.#warn();
    return made;
  }

  /** What the server shows, and by whom clients' certificates are signed. */
  get tls(): Tls {
    const { certificate, privateKey } = this.#own ?? this.#identity.server;
    const proxyCa = this.#proxyCa;
    return {
      key: privateKey,
      cert: certificate,
      ca: this.#identity.ca,
      ...(proxyCa !== undefined && { proxyCa }),
    };
  }

  /** PEM: our authority, which signs the clients' in any case, and whatever is in the file. */
  get trusted(): string {
    const { ca } = this.#identity;
    return this.#own ? `${ca.trimEnd()}\n${this.#own.certificate}` : ca;
  }

  get admin(): Issued {
    return this.#identity.admin;
  }

  get expirations(): Expiration[] {
    const { ca, admin } = this.#identity;
    const { cert, proxyCa } = this.tls;
    const etcd = this.#etcd;
    return [
      { certificate: 'authority', renewed: false, ...validityOf(ca) },
      { certificate: 'server', renewed: this.#own === undefined, ...validityOf(cert) },
      { certificate: 'administrator', renewed: true, ...validityOf(admin.certificate) },
      ...(proxyCa === undefined
        ? []
        : [{ certificate: 'proxies' as const, renewed: false, ...validityOf(proxyCa) }]),
      ...(etcd === undefined ? [] : [{ certificate: 'etcd' as const, renewed: false, ...validityOf(etcd) }]),
    ];
  }

  /** A name to ask for at `host`, where the server's certificate does not name that itself. */
  nameFor(host: string): string | undefined {
    const certificate = new X509Certificate(this.tls.cert);
    const named = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
    if (named !== undefined) return undefined;
    return /DNS:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1]?.replace(/^\*\./, 'atoll.');
  }

  /** Issues anew what has a third of its time left, or counts only later since the clock was ahead; reads the files again. True: something is new. */
  async refresh(): Promise<boolean> {
    const { server, admin } = this.#identity;
    const now = this.#clock.now();
    const due = [server, admin].some(({ certificate }) => isDue(validityOf(certificate), now));
    if (due) {
      this.#identity = await this.#identity.renew();
      this.#options.logger.info({}, 'the certificates were issued anew');
    }
    const read = [await this.#reread(), await this.#rereadProxies()].some(Boolean);
    await this.#rereadEtcd();
    this.#warn();
    return read || due;
  }

  /** Calls `changed` after each change, again until it succeeds; until `signal` aborts. */
  async follow(signal: AbortSignal, changed: () => Promise<void>, everyMs = checkMs): Promise<void> {
    let due = false;
    for (;;) {
      await sleep(everyMs, signal, this.#clock);
      if (signal.aborted) return;
      try {
        due = (await this.refresh()) || due;
        if (due) await changed();
        due = false;
      } catch (err) {
        this.#options.logger.error({ err }, 'the certificates could not be renewed');
      }
    }
  }

  /** Between two files that do not belong together the former ones are kept: the other may be about to be replaced. */
  async #reread(): Promise<boolean> {
    const { files } = this.#options;
    const read = files && (await this.#read(files.certificate, () => readServing(files)));
    if (!read) return false;
    const { certificate, privateKey } = read;
    if (certificate === this.#own?.certificate && privateKey === this.#own.privateKey) return false;
    this.#own = read;
    this.#options.logger.info({ file: files.certificate }, 'the certificate was read anew');
    return true;
  }

  async #rereadProxies(): Promise<boolean> {
    const { proxyCaFile: file, logger } = this.#options;
    const read = file !== undefined && (await this.#read(file, () => readAuthority(file)));
    if (!read || read === this.#proxyCa) return false;
    this.#proxyCa = read;
    logger.info({ file }, 'the authority of proxies was read anew');
    return true;
  }

  async #rereadEtcd(): Promise<void> {
    const { etcdFile: file } = this.#options;
    if (file !== undefined) this.#etcd = (await this.#read(file, () => readAuthority(file))) ?? this.#etcd;
  }

  async #read<T>(file: string, read: () => Promise<T>): Promise<T | undefined> {
    try {
      const found = await read();
      this.#refused.delete(file);
      return found;
    } catch (err) {
      const why = (err as Error).message;
      if (why !== this.#refused.get(file))
        this.#options.logger.warn({ file, err }, 'the former certificate is kept');
      this.#refused.set(file, why);
      return undefined;
    }
  }

  /** Each day of the last tenth of what only a person can renew. */
  #warn(): void {
    const now = this.#clock.now();
    for (const { certificate, renewed, from, until } of this.expirations) {
      if (renewed || now < until - (until - from) / 10) {
        this.#warned.delete(certificate);
        continue;
      }
      const days = Math.floor((until - now) / dayMs);
      if (this.#warned.get(certificate) === days) continue;
      this.#warned.set(certificate, days);
      this.#options.logger.warn(
        { certificate, until: new Date(until).toISOString() },
        'a certificate that only a person can renew is about to expire, or has expired',
      );
    }
  }
}

function isDue({ from, until }: Validity, now: number): boolean {
  return now < from || now > until - (until - from) / 3;
}
