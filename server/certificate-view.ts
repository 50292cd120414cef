import { mastersGroup } from '../apiserver/authz/masters.ts';
import type { View } from '../apiserver/options.ts';
import type { Authority } from '../apiserver/tls/ca.ts';
import { problemOf as problemOfNames } from '../apiserver/tls/subject.ts';
import { isLogicalClusterName } from '../cluster/names.ts';
import { decodeJson } from '../kube/json.ts';
import { badRequest, StatusError } from '../kube/status.ts';
import { numberAt, record, strings, text } from '../kube/untyped.ts';

/** Where a running server gives out client certificates. */
export const certificatePath = '/client-certificates';

const longestSeconds = 365 * 86_400;

export interface CertificateRequest {
  user: string;
  groups: readonly string[];
  expirationSeconds: number;
  /** PEM, SPKI: whoever asks keeps the private one. */
  publicKey: string;
  /** Of an administrator of everything, a member of system:masters. */
  admin: boolean;
  /** Path or id of the one logical cluster in which they are somebody; undefined: wherever a binding names them. */
  cluster?: string;
}

/**
 * POST /client-certificates: a certificate for a user and a key, for system:masters alone. Nobody gets a name or group of the
 * system's: those are what our own controllers, ServiceAccounts and Kubernetes' components are known by.
 */
export function certificateView(sign: Authority['signClient']): View {
  return {
    owns: (path) => path === certificatePath,
    authorize: ({ user }) => ({ allowed: user.groups.includes(mastersGroup) }),
    async handle({ core, info, request: { method, body } }) {
      if (method !== 'POST') {
        throw new StatusError(405, 'MethodNotAllowed', `cannot ${info.verb} path "${certificatePath}"`, {});
      }
      const asked = readRequest(body ?? new Uint8Array());
      const groups = asked.admin ? [...asked.groups, mastersGroup] : asked.groups;
      const { publicKey, expirationSeconds: seconds } = asked;
      const cluster = asked.cluster === undefined ? undefined : await core.paths.resolve(asked.cluster);
      if (asked.cluster !== undefined && cluster === undefined) {
        throw badRequest(`there is no logical cluster ${JSON.stringify(asked.cluster)}`);
      }
      const certificate = await sign(asked.user, groups, { publicKey, seconds, cluster }).catch(() => {
        throw badRequest('publicKey is no public key in PEM');
      });
      const headers = { 'content-type': 'application/json' };
      return { status: 201, headers, body: Buffer.from(`${JSON.stringify({ certificate })}\n`) };
    },
  };
}

function readRequest(body: Uint8Array): CertificateRequest {
  let decoded: unknown;
  try {
    decoded = decodeJson(body).value;
  } catch {
    throw badRequest('the body is no JSON');
  }
  const given = record(decoded);
  const asked = {
    user: text(given['user']),
    groups: strings(given['groups']),
    expirationSeconds: numberAt(given, 'expirationSeconds') ?? 0,
    publicKey: text(given['publicKey']),
    admin: given['admin'] === true,
    ...(given['cluster'] !== undefined && { cluster: text(given['cluster']) }),
  };
  const problem = problemOf(asked);
  if (problem !== undefined) throw badRequest(problem);
  return asked;
}

/** What is wrong with it, in words for whoever asks. */
export function problemOf({
  user,
  groups,
  expirationSeconds,
  admin,
  cluster,
}: Omit<CertificateRequest, 'publicKey'>): string | undefined {
  const problem = problemOfNames({ user, groups });
  if (problem !== undefined) return problem;
  if (cluster !== undefined && !isLogicalClusterName(cluster))
    return `${JSON.stringify(cluster)} is not a logical cluster's name, such as root:team-a`;
  if (admin && cluster !== undefined) return 'an administrator is one everywhere';
  if (!(expirationSeconds >= 60 && expirationSeconds <= longestSeconds))
    return 'a certificate lasts between one minute and a year (8760h)';
  return undefined;
}
