import { describe, expect, test } from 'vitest';
import {
  accessOf,
  accessVolume,
  secretOf,
  usesSecret,
  withAccess,
  withAccessOf,
  withoutAccess,
} from '../../../cluster/pod-access.ts';
import type { KubeObject } from '../../../kube/object.ts';

const directory = '/var/run/secrets/kubernetes.io/serviceaccount';
const mount = { name: accessVolume, mountPath: directory, readOnly: true };
const variables = [
  { name: 'KUBERNETES_SERVICE_HOST', value: 'atoll.example' },
  { name: 'KUBERNETES_SERVICE_PORT', value: '6443' },
  { name: 'KUBERNETES_SERVICE_PORT_HTTPS', value: '6443' },
];
const volume = {
  name: accessVolume,
  projected: { defaultMode: 420, sources: [{ secret: { name: 'atoll-token-robot' } }] },
};
const config = { server: 'https://atoll.example:6443' };
const account = (said?: boolean): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'robot', uid: 'u' },
  ...(said !== undefined && { automountServiceAccountToken: said }),
});
const spec = (more: object = {}, container: object = {}) => ({
  serviceAccountName: 'robot',
  containers: [{ name: 'c', image: 'i', ...container }],
  ...more,
});
const of = (given: Record<string, unknown>, said?: boolean) =>
  withAccess(given, accessOf(config, given, account(said)));

describe('accessOf', () => {
  test.each([
    ['https://atoll.example:6443', 'atoll.example', '6443'],
    ['https://atoll.example', 'atoll.example', '443'],
    ['https://10.0.0.1:8443/', '10.0.0.1', '8443'],
    ['https://[fd00::1]:6443', 'fd00::1', '6443'],
  ])('%s', (server, host, port) => {
    expect(accessOf({ server }, spec(), account())).toMatchObject({ host, port, account: 'robot', uid: 'u' });
  });

  // https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/#opt-out-of-api-credential-automounting
  test.each([
    [undefined, undefined, true],
    [undefined, false, false],
    [true, false, true],
    [false, true, false],
    [undefined, true, true],
  ])('the pod says %s and its account %s', (pod, said, mounts) => {
    const given = spec(pod === undefined ? {} : { automountServiceAccountToken: pod });
    expect(accessOf(config, given, account(said)).mounts).toBe(mounts);
  });

  test('the account that nobody names is default; the old name counts too', () => {
    expect(accessOf(config, { containers: [] }, undefined)).toMatchObject({ account: 'default', uid: '' });
    expect(accessOf(config, { serviceAccount: 'old' }, undefined).account).toBe('old');
  });
});

test('a name that is too long stands by its digest, each by another', () => {
  const [a, b] = [secretOf(`${'a'.repeat(250)}1`), secretOf(`${'a'.repeat(250)}2`)];
  expect([a.length <= 253, b.length <= 253, a === b]).toEqual([true, true, false]);
  expect(secretOf('robot')).toBe('atoll-token-robot');
});

describe('withAccess', () => {
  test('gives each container the address and the files', () => {
    const given = spec({ initContainers: [{ name: 'i' }] });
    expect(of(given)).toEqual({
      ...given,
      volumes: [volume],
      initContainers: [{ name: 'i', env: variables, volumeMounts: [mount] }],
      containers: [{ name: 'c', image: 'i', env: variables, volumeMounts: [mount] }],
    });
    expect(usesSecret(of(given), { secret: 'atoll-token-robot' })).toBe(true);
    expect(usesSecret(of(given), { secret: 'atoll-token-other' })).toBe(false);
  });

  test('leaves who wants no token as it is', () => {
    const given = spec();
    expect(of(given, false)).toBe(given);
  });

  test('leaves a container its own address, and its own files', () => {
    const env = [{ name: 'KUBERNETES_SERVICE_HOST', value: 'mine' }];
    const volumeMounts = [{ name: 'own', mountPath: directory }];
    const given = spec({ initContainers: [{ name: 'other' }] }, { env, volumeMounts });
    const [container] = of(given)['containers'] as unknown[];
    expect(container).toEqual({ name: 'c', image: 'i', env, volumeMounts });
    const alone = spec({}, { volumeMounts });
    expect(of(alone)).toBe(alone);
  });

  test('takes no volume of a user’s for ours', () => {
    const copied = spec({ volumes: [{ name: accessVolume, emptyDir: {} }] }, { volumeMounts: [mount] });
    expect(of(copied)).toEqual(of(spec()));
  });

  test('what a container says of its variables may speak of ours', () => {
    const env = [{ name: 'API', value: 'https://$(KUBERNETES_SERVICE_HOST)' }];
    const [container] = of(spec({}, { env }))['containers'] as { env: object[] }[];
    expect(container?.env).toEqual([...variables, ...env]);
  });

  test('a volume of a user’s own with the token has it, one for others has not', () => {
    const sources = [
      { serviceAccountToken: { path: 't', expirationSeconds: 600 } },
      { serviceAccountToken: { path: 'v', audience: 'vault' } },
      { configMap: { name: 'kube-root-ca.crt' } },
      { configMap: { name: 'other' } },
    ];
    const given = spec({ volumes: [{ name: 'own', projected: { sources } }] });
    const name = 'atoll-token-robot';
    expect(of(given, false)['volumes']).toEqual([
      {
        name: 'own',
        projected: {
          sources: [
            { secret: { name, items: [{ key: 'token', path: 't' }] } },
            sources[1],
            { secret: { name, items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
            sources[3],
          ],
        },
      },
    ]);
  });
});

describe('withAccessOf', () => {
  const plain = spec({ volumes: [{ name: 'data', emptyDir: {} }] }, { env: [{ name: 'A', value: 'b' }] });

  test('takes away what is not there', () => {
    expect(withAccessOf(of(plain), plain)).toEqual({
      ...plain,
      containers: [{ ...plain.containers[0], volumeMounts: [] }],
    });
  });

  test('leaves what a user says of those variables where it is', () => {
    const env = [{ name: 'A' }, { name: 'KUBERNETES_SERVICE_PORT', value: '1' }, { name: 'B' }];
    const given = spec({}, { env });
    const kept = withAccessOf(of(given), given);
    expect((kept['containers'] as { env: object[] }[])[0]?.env).toEqual(env);
    expect(withoutAccess({ metadata: {}, spec: given })).toEqual({ metadata: {}, spec: given });
  });

  test('keeps what is there, were it another', () => {
    const other = withAccess(plain, { ...accessOf(config, plain, account()), host: 'former' });
    expect(withAccessOf(of(plain), other)).toEqual({ ...other, volumes: other['volumes'] });
    expect(withAccessOf(plain, other)).toEqual(other);
  });
});

describe('withoutAccess', () => {
  const template = (pods: object) => ({ metadata: {}, spec: pods });

  test('a template is as before', () => {
    const given = spec(
      { volumes: [{ name: 'data', emptyDir: {} }] },
      { env: [{ name: 'A' }], volumeMounts: [] },
    );
    expect(withoutAccess(template(of(given)))).toEqual(template(given));
  });

  test('a volume of the user’s own is compared without it', () => {
    const sources = [{ serviceAccountToken: { path: 't' } }, { configMap: { name: 'other' } }];
    const given = spec({ volumes: [{ name: 'own', projected: { sources } }] });
    expect(withoutAccess(template(of(given, false)))).toMatchObject(withoutAccess(template(given)));
  });
});
