import { afterAll, describe, expect, test } from 'vitest';
import { silentLogger } from '../../../kube/log.ts';
import { loadAudit } from '../../../server/audit/load.ts';
import { loadAuthentication } from '../../../server/authentication/load.ts';
import { loadAuthorization } from '../../../server/authorization/load.ts';
import { AuditMetrics } from '../../../server/metrics/audit.ts';
import { type RawSettings, resolveSettings } from '../../../server/settings.ts';
import { TakenFiles } from '../../../server/taken-files.ts';

const kubeconfig = '/nowhere/any-more/kubeconfig.yaml';
const policy = '/nowhere/any-more/policy.yaml';
const authorization = '/nowhere/any-more/authorization.yaml';
const files = new TakenFiles({
  [kubeconfig]: JSON.stringify({
    clusters: [{ name: 'a', cluster: { server: 'http://127.0.0.1:1' } }],
    contexts: [{ name: 'a', context: { cluster: 'a', user: 'a' } }],
    users: [{ name: 'a', user: {} }],
    'current-context': 'a',
  }),
  [policy]: JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    rules: [{ level: 'Metadata' }],
  }),
  [authorization]: JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthorizationConfiguration',
    authorizers: [
      {
        type: 'Webhook',
        name: 'asked',
        webhook: {
          timeout: '3s',
          subjectAccessReviewVersion: 'v1',
          matchConditionSubjectAccessReviewVersion: 'v1',
          failurePolicy: 'Deny',
          connectionInfo: { type: 'KubeConfigFile', kubeConfigFile: kubeconfig },
        },
      },
    ],
  }),
});

const stop = new AbortController();
afterAll(() => stop.abort());

const load = (raw: RawSettings) => ({
  settings: resolveSettings(raw, undefined, {}),
  files,
  signal: stop.signal,
  logger: silentLogger,
});

describe('a process that starts beside the first, when the kubeconfig of a webhook is gone, goes by what was taken of it:', () => {
  test('of the one that knows tokens', async () => {
    const { last } = await loadAuthentication(load({ authenticationTokenWebhookConfigFile: kubeconfig }));
    expect(last).toHaveLength(1);
  });

  test('of the one that decides', async () => {
    expect(await loadAuthorization(load({ authorizationConfig: authorization }))).toBeDefined();
  });

  test('of the one that is sent what is recorded', async () => {
    const { settings, logger } = load({ auditPolicyFile: policy, auditWebhookConfigFile: kubeconfig });
    const observer = new AuditMetrics();
    const audit = await loadAudit({ settings: settings.audit, files, first: false, logger, observer });
    await audit?.close();
    expect(audit).toBeDefined();
  });
});
