import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuthority } from '../../../apiserver/tls/ca.ts';
import { FailedError } from '../../../cli/errors.ts';
import { expired, telling } from '../../../cli/telling.ts';
import { TransportError } from '../../../client/errors.ts';
import { transportFromKubeconfig } from '../../../client/kubeconfig.ts';
import { base64, kubeconfigText } from '../../../kube/kubeconfig.ts';

const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });

async function kubeconfig(seconds: number) {
  const key = { publicKey: publicKey.export({ type: 'spki', format: 'pem' }) as string, seconds };
  const certificate = await (await createAuthority('test')).signClient('ann', ['developers'], key);
  const text = kubeconfigText({
    cluster: 'c',
    user: 'u',
    context: 'x',
    clusterFields: { server: 'https://h/clusters/root:team-a' },
    userFields: { 'client-certificate-data': base64(certificate) },
  });
  return { text, files: 'ann.yaml' };
}

function answering(status: number | Error) {
  const answer = async () => {
    if (status instanceof Error) throw status;
    return { status, headers: {}, body: Buffer.from('{}') };
  };
  return Object.assign(answer, { close() {} });
}
const request = { method: 'GET', url: '/api', headers: {} };

test('whose certificate has expired is told when, and how another is made', async () => {
  const transport = telling(answering(401), await kubeconfig(-60));
  const refused = transport(request);
  await expect(refused).rejects.toThrow(FailedError);
  await expect(refused).rejects.toThrow(
    /^the certificate in ann.yaml expired at \S+Z: ask .* \(atoll kubeconfig root:team-a --user ann\)$/,
  );
});

test.each([
  ['that lasts', 60, 401],
  ['that expired and was not asked for', -60, 200],
])('a certificate %s changes no answer', async (_what, seconds, status) => {
  const transport = telling(answering(status), await kubeconfig(seconds));
  expect((await transport(request)).status).toBe(status);
});

test('a kubeconfig without a certificate explains nothing', () => {
  expect(expired('users: [{ name: u, user: { token: t } }]', 'f', 0)).toBeUndefined();
});

test('who does not answer is said with the file that named them, and stays what it was', async () => {
  const transport = telling(answering(new TransportError('ECONNREFUSED', 'refused')), await kubeconfig(60));
  await expect(transport(request)).rejects.toMatchObject({
    code: 'ECONNREFUSED',
    message: 'refused (kubeconfig ann.yaml)',
  });
});

test('a kubeconfig whose command fails is told in the words of the command', async () => {
  const text = kubeconfigText({
    cluster: 'c',
    user: 'u',
    context: 'x',
    clusterFields: { server: 'https://127.0.0.1:1' },
    userFields: {
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1',
        command: process.execPath,
        args: ['-e', 'console.error("run atoll login"); process.exit(1)'],
      },
    },
  });
  const transport = telling(await transportFromKubeconfig(text, { trusted: true }), {
    text,
    files: 'a.yaml',
  });
  const refused = transport(request);
  await expect(refused).rejects.toThrow(FailedError);
  await expect(refused).rejects.toThrow(/^kubeconfig a.yaml: no credentials: run atoll login$/);
  transport.close();
});
