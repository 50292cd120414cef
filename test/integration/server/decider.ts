import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { base64, kubeconfigText } from '../../../kube/kubeconfig.ts';

/** The spec of a SubjectAccessReview; read field by field. */
// biome-ignore lint/suspicious/noExplicitAny: as above.
type Spec = any;

/** A small webhook that decides who may do what. */
export interface Decider {
  /** Leads to it. */
  kubeconfig: string;
  /** What it was asked, in order. */
  asked: Spec[];
  /** The status of what it answers; a number is a response's without one; `nonsense`: none; `never`: no answer. */
  decide: (spec: Spec) => object | number | 'nonsense' | 'never';
  /** Nobody listens any longer. */
  close(): Promise<void>;
}

export const clusterExtra = 'authorization.kubernetes.io/cluster-name';

export async function startDecider(): Promise<Decider> {
  const authority = await createAuthority('decider');
  const { certificate: cert, privateKey: key } = await authority.issueServer(['127.0.0.1']);
  const server = https.createServer({ cert, key }, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { kind, apiVersion, spec } = JSON.parse(Buffer.concat(chunks).toString());
    decider.asked.push(spec);
    const status = decider.decide(spec);
    if (status === 'never') return;
    response.statusCode = typeof status === 'number' ? status : 200;
    response.setHeader('content-type', 'application/json');
    if (status === 'nonsense') return void response.end('yes');
    response.end(JSON.stringify({ kind, apiVersion, status }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ca = base64(authority.certificate);
  const decider: Decider = {
    kubeconfig: kubeconfigText({
      cluster: 'decider',
      user: 'server',
      context: 'decider',
      clusterFields: { server: `${url}/authorize`, 'certificate-authority-data': ca },
      userFields: {},
    }),
    asked: [],
    decide: () => ({ allowed: false }),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return decider;
}
