import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { base64, keyForm } from '../kube/kubeconfig.ts';
import { type CertificateRequest, certificatePath } from '../server/certificate-view.ts';
import type { OtherUser } from '../server/kubeconfig.ts';
import { type OwnKubeconfig, transportOf } from './connection.ts';
import { advised, FailedError } from './errors.ts';
import { seconds } from './telling.ts';

export interface CertifiedUser extends OtherUser {
  /** Whose it is, where and until when, in one line. */
  about: string;
}

/** A user of a kubeconfig, with a key that is made here and a certificate for it from the server that `kubeconfig` leads to. */
export async function certifiedUser(
  kubeconfig: OwnKubeconfig,
  asked: Omit<CertificateRequest, 'publicKey'>,
): Promise<CertifiedUser> {
  const keys = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: keyForm,
  });
  const transport = await transportOf(kubeconfig);
  try {
    const body = Buffer.from(JSON.stringify({ ...asked, publicKey: keys.publicKey }));
    const headers = { 'content-type': 'application/json' };
    const answer = await transport({ method: 'POST', url: certificatePath, headers, body });
    const said = JSON.parse(await textOf(answer.body)) as { certificate?: string; message?: string };
    if (said.certificate === undefined) {
      throw new FailedError(
        `no certificate: ${advised(said.message ?? `the server answered ${answer.status}`)}`,
      );
    }
    const fields = {
      'client-certificate-data': base64(said.certificate),
      'client-key-data': base64(keys.privateKey),
    };
    // Of one name there is one when kubeconfigs are merged: in the wrong logical cluster they would be nobody.
    const name = asked.cluster === undefined ? asked.user : `${asked.user}@${asked.cluster}`;
    const where = asked.cluster === undefined ? 'everywhere' : `in ${asked.cluster}`;
    const who = asked.admin ? `${asked.user}, administrator of everything,` : `${asked.user} ${where}`;
    const until = seconds(new X509Certificate(said.certificate).validTo);
    return { name, fields, about: `${who} until ${until}` };
  } finally {
    transport.close();
  }
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return Buffer.from(body).toString();
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
