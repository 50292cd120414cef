import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import type { ListenOptions } from '../apiserver/options.ts';
import type { Issued } from '../apiserver/tls/ca.ts';
import type { Logger } from '../kube/log.ts';
import { UsageError } from './errors.ts';
import type { Identity } from './identity.ts';

export type Tls = ListenOptions['tls'];

/** The administrator's own certificate, PEM: `tls-cert-file` and `tls-private-key-file`. */
export interface CertificateFiles {
  certificate: string;
  privateKey: string;
}

const checkMs = 10_000;

/** By which certificates the server and its administrator are known: issued ones, or the server's from files. */
export class Certificates {
  #identity: Identity;
  readonly #files: CertificateFiles | undefined;
  readonly #logger: Logger;
  readonly #proxyCa: string | undefined;
  #own: Issued | undefined;
  #refused = '';

  private constructor(
    identity: Identity,
    files: CertificateFiles | undefined,
    logger: Logger,
    proxyCa: string | undefined,
  ) {
    this.#identity = identity;
    this.#proxyCa = proxyCa;
    this.#files = files;
    this.#logger = logger;
  }

  /** Throws UsageError where the files are none to serve with. */
  static async load(
    identity: Identity,
    files: CertificateFiles | undefined,
    logger: Logger,
    /** PEM: who signs the certificates of trusted proxies. */
    proxyCa?: string,
  ): Promise<Certificates> {
    const made = new Certificates(identity, files, logger, proxyCa);
    if (files) {
      made.#own = await readFiles(files).catch((error: Error) => {
        throw new UsageError(`--tls-cert-file ${files.certificate}: ${error.message}`);
      });
    }
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

  /** A name to ask for at `host`, where the server's certificate does not name that itself. */
  nameFor(host: string): string | undefined {
    const certificate = new X509Certificate(this.tls.cert);
    const named = isIP(host) ? certificate.checkIP(host) : certificate.checkHost(host);
    if (named !== undefined) return undefined;
    return /DNS:([^,]+)/.exec(certificate.subjectAltName ?? '')?.[1]?.replace(/^\*\./, 'atoll.');
  }

  /** Issues anew what has a third of its time left, reads the files again. True: something is new. */
  async refresh(now = Date.now()): Promise<boolean> {
    const { server, admin } = this.#identity;
    const due = [server, admin].some(({ certificate }) => isDue(certificate, now));
    if (due) {
      this.#identity = await this.#identity.renew();
      this.#logger.info({}, 'the certificates were issued anew');
    }
    return (await this.#reread()) || due;
  }

  /** Calls `changed` after each change, again until it succeeds; until `signal` aborts. */
  async follow(signal: AbortSignal, changed: () => Promise<void>, everyMs = checkMs): Promise<void> {
    let due = false;
    while (await passes(everyMs, signal)) {
      try {
        due = (await this.refresh()) || due;
        if (due) await changed();
        due = false;
      } catch (err) {
        this.#logger.error({ err }, 'the certificates could not be renewed');
      }
    }
  }

  /** Between two files that do not belong together the former ones are kept: the other may be about to be replaced. */
  async #reread(): Promise<boolean> {
    if (!this.#files) return false;
    try {
      const read = await readFiles(this.#files);
      this.#refused = '';
      if (read.certificate === this.#own?.certificate && read.privateKey === this.#own.privateKey)
        return false;
      this.#own = read;
      this.#logger.info({ file: this.#files.certificate }, 'the certificate was read anew');
      return true;
    } catch (err) {
      const why = (err as Error).message;
      if (why !== this.#refused) {
        this.#logger.warn({ file: this.#files.certificate, err }, 'the former certificate is kept');
      }
      this.#refused = why;
      return false;
    }
  }
}

async function readFiles({ certificate, privateKey }: CertificateFiles): Promise<Issued> {
  const [cert, key] = await Promise.all([readFile(certificate, 'utf8'), readFile(privateKey, 'utf8')]);
  if (!certificateIn(cert).checkPrivateKey(createPrivateKey(key)))
    throw new Error(`the key in ${privateKey} is another one's`);
  return { certificate: cert, privateKey: key };
}

function certificateIn(pem: string): X509Certificate {
  try {
    return new X509Certificate(pem);
  } catch (cause) {
    throw new Error('it has no certificate', { cause });
  }
}

function isDue(pem: string, now: number): boolean {
  const { validFrom, validTo } = new X509Certificate(pem);
  const [from, to] = [Date.parse(validFrom), Date.parse(validTo)];
  return now > to - (to - from) / 3;
}

/** False: `signal` aborted. */
function passes(millis: number, signal: AbortSignal): Promise<boolean> {
  return setTimeout(millis, true, { signal, ref: false }).catch(() => false);
}
