import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { UsageError } from '../../../server/errors.ts';
import { resolveSettings } from '../../../server/settings.ts';

let directory = '';
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'atoll-settings-'));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

async function file(text: string): Promise<string> {
  const path = join(directory, 'settings.yaml');
  await writeFile(path, text);
  return path;
}

describe('settings', () => {
  test('a flag wins over a variable, that over the file, that over the default', async () => {
    const config = await file('listen: 127.0.0.1:1\nsettle-seconds: 3\nlog-level: warn\n');
    const env = { ATOLL_LISTEN: '127.0.0.1:2', ATOLL_SETTLE_SECONDS: '4' };
    const found = resolveSettings({ listen: '127.0.0.1:3' }, config, env, {
      logLevel: 'error',
      dataDir: 'x',
    });
    expect(found).toEqual({
      dataDir: resolve('x'),
      storage: `level:${resolve('x', 'store')}`,
      diskReserve: 128 << 20,
      listen: { host: '127.0.0.1', port: 3 },
      tlsSan: [],
      serviceAccountIssuer: 'https://kubernetes.default.svc',
      enableBootstrapTokenAuth: false,
      encryptionProviderConfigAutomaticReload: false,
      settleSeconds: 4,
      controllers: 'all',
      maxRequestsInflight: 400,
      maxMutatingRequestsInflight: 200,
      logicalClusterMax: {},
      servingProcesses: Math.max(0, availableParallelism() - 2),
      controllersProcess: availableParallelism() > 1,
      shutdownDelay: 0,
      egressAllow: [],
      egressDeny: [],
      logLevel: 'warn',
    });
  });

  test.each([
    ['on', true],
    ['off', false],
  ])('--controllers-process %s', (controllersProcess, expected) => {
    expect(resolveSettings({ controllersProcess }, undefined, {}).controllersProcess).toBe(expected);
  });

  test('a variable that is set to nothing says nothing', () => {
    expect(resolveSettings({}, undefined, { ATOLL_LISTEN: '' }).listen).toEqual({
      host: '127.0.0.1',
      port: 6443,
    });
  });

  test.each([
    ['level:y', `level:${resolve('y')}`],
    ['etcd://a,b:1/p?ca=f', 'etcd://a,b:1/p?ca=f'],
  ])('--storage %s', (storage, expected) => {
    expect(resolveSettings({ storage }, undefined, {}).storage).toBe(expected);
  });

  test.each([
    ['all', undefined],
    ['0', 0],
    ['1048576', 1 << 20],
    ['512Mi', 512 * 2 ** 20],
    ['4Gi', 2 ** 32],
  ])('--memory-budget %s', (memoryBudget, expected) => {
    expect(resolveSettings({ memoryBudget }, undefined, {}).memoryBudget).toBe(expected);
    expect(resolveSettings({}, undefined, { ATOLL_MEMORY_BUDGET: memoryBudget }).memoryBudget).toBe(expected);
  });

  test.each([
    ['[::1]:8443', { host: '::1', port: 8443 }],
    [':8443', { host: '0.0.0.0', port: 8443 }],
    ['localhost:0', { host: 'localhost', port: 0 }],
  ])('--listen %s', (listen, expected) => {
    expect(resolveSettings({ listen }, undefined, {}).listen).toEqual(expected);
  });

  test.each([
    ['lb.example.com', { host: 'lb.example.com' }],
    ['lb.example.com:443', { host: 'lb.example.com', port: 443 }],
    ['2001:db8::1', { host: '2001:db8::1' }],
    ['[2001:db8::1]:443', { host: '2001:db8::1', port: 443 }],
  ])('--advertise-address %s', (advertiseAddress, expected) => {
    expect(resolveSettings({ advertiseAddress }, undefined, {}).advertise).toEqual(expected);
  });

  test('--tls-san is a list in the file, has commas in a variable', async () => {
    const names = ['a.example', '*.b.example', '::1'];
    const config = await file(`tls-san: ["${names.join('", "')}"]`);
    expect(resolveSettings({}, config, {}).tlsSan).toEqual(names);
    expect(resolveSettings({}, undefined, { ATOLL_TLS_SAN: names.join(', ') }).tlsSan).toEqual(names);
    expect(resolveSettings({}, await file('tls-san: []'), {}).tlsSan).toEqual([]);
  });

  test.each([
    ['front, back', ['front', 'back']],
    ['', []],
    ['all', []],
  ])('--requestheader-allowed-names %j', (requestheaderAllowedNames, expected) => {
    const raw = { requestheaderClientCaFile: 'x', requestheaderAllowedNames };
    expect(resolveSettings(raw, undefined, {}).requestHeader?.allowedNames).toEqual(expected);
  });

  test('what is set of logical clusters bounds them, 0 does not', () => {
    const raw = {
      logicalClusterMaxObjects: '1000',
      logicalClusterMaxBytes: '64Mi',
      logicalClusterMaxWatches: '0',
    };
    const { logicalClusterMax } = resolveSettings(raw, undefined, {});
    expect(logicalClusterMax).toEqual({ objects: 1000, bytes: 64 * 2 ** 20 });
  });

  test('--egress-allow and --egress-deny are lists of CIDRs', async () => {
    const config = await file('egress-deny: [10.0.0.0/8, "fd00::/8"]');
    const { egressAllow, egressDeny } = resolveSettings({ egressAllow: '127.0.0.1/32' }, config, {});
    expect([egressAllow, egressDeny]).toEqual([['127.0.0.1/32'], ['10.0.0.0/8', 'fd00::/8']]);
  });

  test.each([
    [{ egressAllow: '10.0.0.1' }, '--egress-allow 10.0.0.1: expected a CIDR, such as 10.0.0.0/8 or fd00::/8'],
    [
      { advertiseAddress: 'a:0' },
      '--advertise-address a:0: expected HOST or HOST:PORT, such as atoll.example.com:443',
    ],
    [
      { advertiseAddress: 'https://a' },
      '--advertise-address https://a: expected HOST or HOST:PORT, such as atoll.example.com:443',
    ],
    [{ tlsSan: 'a,b_c' }, '--tls-san b_c: expected a DNS name or an IP address, such as atoll.example.com'],
    [{ tlsCertFile: 'a' }, '--tls-cert-file and --tls-private-key-file go together'],
    [{ listen: '6443' }, '--listen 6443: expected HOST:PORT, such as 127.0.0.1:6443'],
    [{ listen: 'a:99999' }, '--listen a:99999: expected HOST:PORT, such as 127.0.0.1:6443'],
    [
      { serviceAccountIssuer: 'http://x' },
      '--service-account-issuer http://x: expected a URL such as https://atoll.example.com',
    ],
    [{ enableBootstrapTokenAuth: 'yes' }, '--enable-bootstrap-token-auth yes: expected true or false'],
    [
      { requestheaderClientCaFile: 'x', requestheaderGroupHeaders: 'a b' },
      '--requestheader-group-headers a b: expected names of headers',
    ],
    [
      { requestheaderAllowedNames: 'front-proxy' },
      '--requestheader-allowed-names: no proxy is believed without --requestheader-client-ca-file',
    ],
    [
      { requestheaderExtraHeadersPrefix: 'X-Ours-' },
      '--requestheader-extra-headers-prefix: no proxy is believed without --requestheader-client-ca-file',
    ],
    [{ settleSeconds: 'soon' }, '--settle-seconds soon: expected a number from 0 to 3600'],
    [{ settleSeconds: '' }, '--settle-seconds : expected a number from 0 to 3600'],
    [{ shutdownDelay: '-1' }, '--shutdown-delay -1: expected a number from 0 to 3600'],
    [
      { logicalClusterMaxObjects: '1Ki' },
      '--logical-cluster-max-objects 1Ki: expected a whole number, 0 or more',
    ],
    [
      { logicalClusterMaxBytes: '64M' },
      '--logical-cluster-max-bytes 64M: expected a size such as 64Mi, or 0',
    ],
    [{ maxRequestsInflight: '-1' }, '--max-requests-inflight -1: expected a whole number, 0 or more'],
    [{ servingProcesses: 'many' }, '--serving-processes many: expected a whole number, 0 or more'],
    [{ controllersProcess: 'yes' }, '--controllers-process yes: expected on, off or auto'],
    [{ controllers: 'none' }, '--controllers none: expected one of all, api'],
    [{ logLevel: 'loud' }, '--log-level loud: expected one of debug, info, warn, error'],
    [{ storage: 'redis:x' }, '--storage redis:x: expected level:DIRECTORY or etcd://HOST:PORT,...'],
    [{ diskReserve: 'some' }, '--disk-reserve some: expected a size such as 128Mi or 1Gi, or 0'],
    [{ memoryBudget: '1G' }, '--memory-budget 1G: expected a size such as 512Mi or 4Gi, or all'],
    [{ dataDir: '' }, '--data-dir must name a directory'],
  ])('refuses %j', (flags, message) => {
    expect(() => resolveSettings(flags, undefined, {})).toThrow(new UsageError(message));
  });

  test.each([
    [
      'surprise: 1',
      'unknown setting "surprise"; known: data-dir, storage, memory-budget, disk-reserve, listen, advertise-address, tls-san, tls-cert-file, tls-private-key-file, service-account-issuer, authentication-config, token-auth-file, enable-bootstrap-token-auth, authentication-token-webhook-config-file, requestheader-client-ca-file, requestheader-allowed-names, requestheader-username-headers, requestheader-uid-headers, requestheader-group-headers, requestheader-extra-headers-prefix, authorization-config, encryption-provider-config, encryption-provider-config-automatic-reload, audit-policy-file, audit-log-path, audit-log-maxsize, audit-log-maxage, audit-log-maxbackup, audit-log-compress, audit-webhook-config-file, audit-webhook-batch-buffer-size, audit-webhook-batch-max-size, audit-webhook-batch-max-wait, audit-webhook-initial-backoff, tracing-config-file, settle-seconds, controllers, max-requests-inflight, max-mutating-requests-inflight, logical-cluster-max-objects, logical-cluster-max-bytes, logical-cluster-max-custom-resource-definitions, logical-cluster-max-webhooks, logical-cluster-max-requests-per-second, logical-cluster-max-watches, serving-processes, controllers-process, shutdown-delay, egress-allow, egress-deny, log-level',
    ],
    ['[1]', 'must be a YAML mapping of settings'],
    ['listen: [1]', '"listen" must be a string or a number'],
    ['a: {', 'yaml: '],
  ])('refuses the file %j', async (text, message) => {
    const config = await file(text);
    expect(() => resolveSettings({}, config, {})).toThrow(UsageError);
    expect(() => resolveSettings({}, config, {})).toThrow(message);
  });

  test('a file that is not there is named', () => {
    expect(() => resolveSettings({}, '/nowhere/at.yaml', {})).toThrow(
      '--config /nowhere/at.yaml cannot be read',
    );
  });
});
