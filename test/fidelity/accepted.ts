import { readFileSync } from 'node:fs';
import type { Found } from './runner.ts';

/** A difference that is meant: docs/reference/differences.md gives the reason of each, in a line with the same id. */
export interface Accepted {
  id: string;
  /** Of the case's id. */
  cases?: RegExp;
  /** `GET pods` */
  request?: RegExp;
  path: RegExp;
  kubernetes?: RegExp;
  atoll?: RegExp;
  /** Without it, what Atoll says is what Kubernetes says. */
  but?: RegExp;
  /** It shows only where one server is faster than the other: a whole run may do without it. */
  timing?: boolean;
}

export const accepted: readonly Accepted[] = [
  {
    id: 'access-guests',
    cases: /^rbac\/decisions\/nobody$/,
    request: /^POST subjectaccessreviews$/,
    path: /^body\.status\.(allowed|reason)$/,
  },
  {
    id: 'account-cluster',
    request: /^POST (tokenreviews|selfsubjectreviews)$/,
    path: /^body\.status\.(user|userInfo)\.extra\.authentication\.kcp\.io\/cluster-name$/,
    kubernetes: /^\(absent\)$/,
  },
  {
    id: 'account-issuer',
    request: /^GET \/\.well-known\/openid-configuration\/?$/,
    path: /^body\.issuer$/,
    atoll: /^https:\/\/kubernetes\.default\.svc\/clusters\/[a-z0-9]{16}$/,
  },
  {
    id: 'anonymous-elsewhere',
    cases: /^authn\/credentials\//,
    path: /^status$/,
    kubernetes: /^(200|403 .*system:anonymous)/,
    atoll: /^401/,
  },
  {
    id: 'applied-deletion',
    request: /^PATCH /,
    path: /^body\.metadata\.deletionTimestamp$/,
    kubernetes: /^\d/,
    atoll: /^\(absent\)$/,
  },
  {
    id: 'impersonation-scopes',
    request: /^POST selfsubjectreviews$/,
    path: /^body\.status\.userInfo\.extra$/,
    kubernetes: /^\(absent\)$/,
    atoll: /^\{"authentication\.kcp\.io\/scopes":/,
  },
  {
    id: 'bootstrap-scopes',
    cases: /^authn\/bootstrap\//,
    path: /^body\.status\.(user|userInfo)\.extra$/,
    kubernetes: /^\(absent\)$/,
    atoll: /^\{"authentication\.kcp\.io\/scopes":/,
  },
  {
    // No cluster is joined, so nothing is anywhere.
    id: 'clusters-column',
    path: /^body(\[\]\.object)?\.clusters$/,
    kubernetes: /^\(absent\)$/,
    atoll: /^(<none>)?$/,
  },
  { id: 'column-descriptions', path: /columnDefinitions\[\]\.description$/ },
  {
    id: 'componentstatuses',
    request: /^GET componentstatuses$/,
    path: /^body\.(items\[\]\.)?conditions\[\]\.(status|message)$|^body\.rows\[\]\.cells\[\]$/,
    kubernetes: /^(False|Unhealthy|Get "https:.*connection refused)$/,
    atoll: /^(True|Healthy|ok)$/,
  },
  {
    id: 'componentstatuses',
    request: /^GET componentstatuses$/,
    path: /^body\.items\[\]\.metadata\.name$/,
    kubernetes: /^(etcd-0|scheduler|controller-manager)$/,
    atoll: /^(etcd-0|scheduler|controller-manager)$/,
  },
  {
    id: 'definition-collection',
    request: /^GET customresourcedefinitions$/,
    path: /^body\.metadata\.finalizers\.length$/,
    atoll: /customresourcecleanup/,
    timing: true,
  },
  {
    id: 'first-update',
    request: /^(PUT|PATCH) (jobs|persistentvolumeclaims)$/,
    path: /^body\.metadata\.resourceVersion$/,
    kubernetes: /^<rv, new>$/,
    atoll: /^<rv, known>$/,
  },
  // Only where the two fall into different seconds: else the times of managedFields are the same, and so is their order, which goes by them.
  ...(
    [
      [/^<rv, new>$/, /^<rv, known>$/],
      [/^<rv, known>$/, /^<rv, new>$/],
    ] as const
  ).map(
    ([kubernetes, atoll]): Accepted => ({
      id: 'first-update',
      request: /^PATCH (secrets|rolebindings|clusterrolebindings)$/,
      cases: /^writes\/.*\/apply$/,
      path: /^body\.metadata\.resourceVersion$/,
      kubernetes,
      atoll,
      timing: true,
    }),
  ),
  {
    id: 'health-checks',
    request: /^GET \/(healthz|livez|readyz)$/,
    path: /^body$/,
    kubernetes: /^\[\+\]ping ok\n(\[\+\]\S+ ok\n)+(healthz|livez|readyz) check passed\n$/,
    atoll: /^\[\+\]ping ok\n\[\+\]store ok\n/,
  },
  { id: 'history-length', cases: /^watch\/options\/\w+\/3$/, path: /^(layout|body)/, timing: true },
  { id: 'http-method', request: /^FOO /, path: /^status$/, kubernetes: /^405/, atoll: /^400/ },
  {
    id: 'huge-numbers',
    path: /^body\.message$/,
    kubernetes: /1e400|no kind/,
    atoll: /cannot unmarshal number 1e400/,
  },
  {
    id: 'kind-case',
    request: /^DELETE configmaps$/,
    cases: /^media\/spoiled\/(json-case|protobuf-wrong-wire)$/,
    path: /^(status|body\.message)$/,
  },
  {
    id: 'long-quantities',
    cases: /^quota\/pods\/long$/,
    request: /^POST pods$/,
    path: /^status$/,
    kubernetes: /^201/,
    atoll: /^400/,
  },
  { id: 'root-paths', request: /^GET \/$/, path: /^body\.paths\.length$/ },
  {
    id: 'token-errors',
    request: /^POST tokenreviews$/,
    path: /^body\.status\.error$/,
    kubernetes: /^\[invalid bearer token, /,
    atoll: /^invalid bearer token$/,
  },
  { id: 'token-names', cases: /^authn\/system\//, path: /^(status|body\..*)$/ },
  {
    id: 'classes-stay',
    path: /^headers\.warning/,
    but: /(, )?299 - "a (Runtime|Priority)Class is asked here and stays here: [^"]*"/g,
  },
  {
    id: 'dry-run-deletions',
    cases: /^writes\/tools\/dry-deletion$/,
    request: /^GET configmaps$/,
    path: /^status$/,
    kubernetes: /^404 /,
    atoll: /^200/,
  },
  {
    // Only a case that changes replicas by a dry run shows it.
    id: 'dry-run-plans',
    path: /^headers\.warning/,
    but: /(, )?299 - "plan: [^"]*"/g,
    timing: true,
  },
  { id: 'warning-ascii', path: /^headers\.warning$/, kubernetes: /ï¿½/, atoll: /\?/ },
  {
    id: 'yaml-tags',
    cases: /^media\/yaml/,
    path: /^(status|body\.message)$/,
    atoll: /unknown (scalar|mapping|sequence) tag/,
  },
  {
    id: 'yaml-words',
    cases: /^media\/yaml/,
    path: /^(status|body\.message|headers\.warning)$/,
    kubernetes: /yaml: |unmarshaling JSON|invalid object type: \/, Kind=|already set in map/,
  },
  {
    id: 'yaml-words',
    path: /^body\.message$/,
    kubernetes: /yaml: |unsupported map key of type/,
    atoll: /yaml: /,
  },
  {
    id: 'security-labels',
    request: /^(POST|PUT|PATCH) namespaces$/,
    path: /^headers\.warning/,
    but: /(299 - "metadata\.labels\[pod-security\.kubernetes\.io\/[^"]* counts on physical clusters only where[^"]*"(, )?)+/g,
  },
  {
    id: 'service-addresses',
    cases: /^writes\/addresses\/service$/,
    request: /^GET ipaddresses$/,
    path: /^status$/,
    atoll: /^404/,
  },
  {
    id: 'version',
    request: /^GET \/version/,
    path: /^body\.(gitVersion|gitCommit|gitTreeState|buildDate|goVersion)$/,
  },
  {
    id: 'definition-conditions',
    cases: /^subresources\/status\/apiextensions\./,
    request: /^(PUT|PATCH|GET) customresourcedefinitions(\/status)?$/,
    path: /^body\.(status\.conditions|metadata\.(managedFields|resourceVersion)|message|details\.causes)/,
    timing: true,
  },
  {
    id: 'discovery-beta',
    request: /^GET \/apis?$/,
    cases: /^discovery\/accept\/apis?\/3$/,
    path: /^status$/,
    kubernetes: /^406/,
    atoll: /^200/,
  },
];

export function explanationOf(found: Found): Accepted | undefined {
  return accepted.find(
    (pattern) =>
      pattern.path.test(found.path) &&
      (pattern.cases?.test(found.case.id) ?? true) &&
      (pattern.request?.test(found.request) ?? true) &&
      (pattern.kubernetes?.test(found.kubernetes) ?? true) &&
      (pattern.atoll?.test(found.atoll) ?? true) &&
      (pattern.but === undefined ||
        (found.atoll.replace(pattern.but, '') || '(absent)') === found.kubernetes),
  );
}

/** Ids that only one of the page and the patterns has. */
export function unpaired(page: string): string[] {
  const text = readFileSync(page, 'utf8');
  const documented = new Set([...text.matchAll(/^\| `([a-z0-9-]+)` \|/gm)].map((match) => match[1] ?? ''));
  const patterns = new Set(accepted.map(({ id }) => id));
  return [
    ...[...patterns].filter((id) => !documented.has(id)).map((id) => `${id} has no line in ${page}`),
    ...[...documented].filter((id) => !patterns.has(id)).map((id) => `${id} of ${page} has no pattern`),
  ];
}
