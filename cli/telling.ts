import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isTransportError, KubeconfigError, TransportError } from '../client/errors.ts';
import type { HttpTransport } from '../client/http.ts';
import { currentOf } from '../client/merged-kubeconfig.ts';
import { clusterOfUrl, rootUrl } from '../client/url.ts';
import { group } from '../cluster/names.ts';
import type { ApiRequest, ApiResponse, Transport } from '../kube/http.ts';
import { textAt } from '../kube/untyped.ts';
import { FailedError } from './errors.ts';

/** The same, and what fails because of the kubeconfig says of which file: neither the server nor the network can. */
export function telling(transport: HttpTransport, of: { files: string; text: string }): HttpTransport {
  const ask = (request: ApiRequest) =>
    transport(request).catch((error: unknown) => {
      if (error instanceof KubeconfigError) throw new FailedError(`kubeconfig ${of.files}: ${error.message}`);
      if (!isTransportError(error)) throw error;
      throw new TransportError(error.code, `${error.message} (kubeconfig ${of.files})`, error);
    });
  const told = async (request: ApiRequest) => {
    const answer = await ask(request);
    const why =
      (answer.status === 401 && expired(of.text, of.files, Date.now())) ||
      (mayBeAnothers(answer) && (await elsewhere(ask, of)));
    if (why) throw new FailedError(why);
    return answer;
  };
  return Object.assign(told, { close: () => transport.close() });
}

/** What an API server says of a path that it does not know: to some that they may not ask for it. */
function mayBeAnothers({ status, headers }: ApiResponse): boolean {
  return status === 403 || (status === 404 && !String(headers['content-type']).includes('json'));
}

/** Atoll has our group for whoever may look, and paths besides that may well be missing: only the group tells. */
async function elsewhere(ask: Transport, of: { files: string; text: string }): Promise<string | undefined> {
  const { status } = await ask({ method: 'GET', url: `/apis/${group}`, headers: {} });
  const server = rootUrl(textAt(currentOf(of.text).cluster?.fields, 'server') ?? '');
  const another = 'name another by --atoll-kubeconfig';
  return status === 404
    ? `kubeconfig ${of.files} leads to ${server}, which is no Atoll: ${another}`
    : undefined;
}

/** In words; undefined where the current user's certificate lasts, or there is none that can be read. */
export function expired(text: string, files: string, now: number): string | undefined {
  const { cluster, user } = currentOf(text);
  const certificate = certificateOf(user?.fields);
  if (certificate === undefined || Date.parse(certificate.validTo) > now) return undefined;
  const name = certificate.toLegacyObject().subject.CN;
  const path = clusterOfUrl(textAt(cluster?.fields, 'server') ?? '');
  const another = `atoll kubeconfig ${path} --user ${name}`;
  return `the certificate in ${files} expired at ${seconds(certificate.validTo)}: ask an administrator for another (${another})`;
}

function certificateOf(fields: object | undefined): X509Certificate | undefined {
  const data = textAt(fields, 'client-certificate-data');
  const file = textAt(fields, 'client-certificate');
  try {
    if (data) return new X509Certificate(Buffer.from(data, 'base64'));
    return file ? new X509Certificate(readFileSync(file)) : undefined;
  } catch {
    return undefined;
  }
}

/** A time of a certificate, as Kubernetes writes times. */
export function seconds(time: string): string {
  return new Date(time).toISOString().replace('.000Z', 'Z');
}
