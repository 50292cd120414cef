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
}

export const accepted: readonly Accepted[] = [
  {
    id: 'applied-deletion',
    request: /^PATCH /,
    path: /^body\.metadata\.deletionTimestamp$/,
    kubernetes: /^\d/,
    atoll: /^\(absent\)$/,
  },
  { id: 'column-descriptions', path: /columnDefinitions\[\]\.description$/ },
  {
    id: 'service-accounts',
    request: /^(POST|PUT) pods$/,
    path: /^status$/,
    kubernetes: /^422 .*must not be specified when serviceAccountName is not set/,
    atoll: /^201/,
  },
  {
    id: 'service-accounts',
    request: /^POST pods$/,
    path: /^status$/,
    kubernetes: /^201/,
    atoll: /^403 .*error looking up service account/,
  },
  {
    id: 'service-accounts',
    path: /^body\.spec\.(serviceAccountName|serviceAccount)$/,
    kubernetes: /^\(absent\)$/,
    atoll: /^"?default"?$/,
  },
  {
    id: 'version',
    request: /^GET \/version/,
    path: /^body\.(gitVersion|gitCommit|gitTreeState|buildDate|goVersion)$/,
  },
];

export function explanationOf(found: Found): Accepted | undefined {
  return accepted.find(
    (pattern) =>
      pattern.path.test(found.path) &&
      (pattern.cases?.test(found.case.id) ?? true) &&
      (pattern.request?.test(found.request) ?? true) &&
      (pattern.kubernetes?.test(found.kubernetes) ?? true) &&
      (pattern.atoll?.test(found.atoll) ?? true),
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
