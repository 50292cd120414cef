import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJson } from '../../../kube/json.ts';
import { type Answer, type Case, type Names, rv, type Step } from '../case.ts';
import { fixtureOf } from '../fixtures.ts';
import { seed } from './reading.ts';

/** `  PATCH /api/v1/x -> 200 [A json, *​/*][CT merge-patch+json] B={…}` */
const line = /^\s+(GET|POST|PUT|PATCH|DELETE) (\/\S+) -> (\d+)[^[B]*((?:\[[^\]]*\])*)\s*(?:B=(.*))?$/;

/**
 * What real kubectls sent, a command a case: against a namespace with a Deployment `web`, its Pod and a ConfigMap.
 * Requests whose bodies the transcript cut are left out.
 */
export function transcriptsCases(dir: string): Case[] {
  return readdirSync(dir)
    .filter((file) => /^tr.*\.txt$/.test(file))
    .flatMap((file) => sessions(readFileSync(join(dir, file), 'utf8'), file.replace('.txt', '')));
}

function sessions(text: string, file: string): Case[] {
  return text
    .split(/^## /m)
    .slice(1)
    .flatMap((session, i): Case[] => {
      const requests = session.split('\n').flatMap((text) => {
        const match = line.exec(text);
        const [, method = '', path = '', , tags = '', body] = match ?? [];
        if (!match || skipped(path)) return [];
        if (body !== undefined && !isWhole(body)) return [];
        return [{ method, path, tags, body }];
      });
      if (requests.length === 0) return [];
      const id = `transcripts/${file}/${i}`;
      return [
        {
          id,
          area: 'transcripts',
          ownNamespace: true,
          steps: (names) => [...setUp(names), ...requests.map((r) => replay(r, names))],
        },
      ];
    });
}

/** Those need a kubelet, or a connection that is upgraded. */
function skipped(path: string): boolean {
  return /\/(exec|attach|portforward|log|proxy)\b|[?&]follow/.test(path);
}

function isWhole(body: string): boolean {
  try {
    decodeJson(Buffer.from(body));
    return true;
  } catch {
    return false;
  }
}

function setUp(names: Names): Step[] {
  const deployment = fixtureOf('deployments', 'apps');
  const object = deployment.object(names);
  object.metadata.name = 'web';
  const pod = fixtureOf('pods').object(names);
  pod.metadata.name = 'p2';
  return [
    { method: 'POST', path: deployment.path(names), body: object, silent: true },
    { method: 'POST', path: `/api/v1/namespaces/${names.ns}/pods`, body: pod, silent: true },
    ...seed(fixtureOf('configmaps'), names, 1),
  ];
}

interface Recorded {
  method: string;
  path: string;
  tags: string;
  body: string | undefined;
}

const shorthand: readonly [RegExp, string][] = [
  [/\bjson\b/g, 'application/json'],
  [/\bpb\b/g, 'application/vnd.kubernetes.protobuf'],
  [/;g=M\b/g, ';g=meta.k8s.io'],
];

function replay({ method, path, tags, body }: Recorded, names: Names): Step {
  const accept = /\[A ([^\]]*)\]/.exec(tags)?.[1];
  const type = /\[CT ([^\]]*)\]/.exec(tags)?.[1];
  return (seen: readonly Answer[]) => ({
    method,
    path: current(timed(path.replaceAll('/namespaces/default', `/namespaces/${names.ns}`)), seen),
    accept: shorthand.reduce((text, [from, to]) => text.replaceAll(from, to), accept ?? 'json'),
    ...(body !== undefined && {
      body: body.replaceAll('"default"', `"${names.ns}"`),
      contentType: type === undefined ? 'application/json' : `application/${type}`,
    }),
  });
}

/** At a revision that the server has: the last that it told of. */
function current(path: string, seen: readonly Answer[]): string {
  const revision = rv(seen.findLast((answer) => rv(answer) !== '')) || '0';
  return path
    .replaceAll(/resourceVersion=\d+/g, `resourceVersion=${revision}`)
    .replaceAll(/continue=([\w-]+)/g, (_, token: string) => {
      const text = Buffer.from(token, 'base64url')
        .toString()
        .replace(/"rv":\d+/, `"rv":${revision}`);
      return `continue=${Buffer.from(text).toString('base64url')}`;
    });
}

function timed(path: string): string {
  if (!/watch=(true|1)/.test(path)) return path;
  return `${path.replaceAll(/&?timeout(Seconds)?=[^&]*/g, '')}&timeoutSeconds=1`;
}
