import type { Answer, Case, Names, Request, Step } from '../case.ts';
import { bind, role, rule, silent } from './roles.ts';

const group = 'authentication.k8s.io';
export const reviews = `/apis/${group}/v1/tokenreviews`;
const selves = `/apis/${group}/v1/selfsubjectreviews`;

export function caseOf(id: string, steps: (names: Names) => Step[]): Case {
  return { id: `authn/${id}`, area: 'authn', ownNamespace: true, steps };
}

export function review(spec: object, more: object = {}): Request {
  const body = { apiVersion: `${group}/v1`, kind: 'TokenReview', spec, ...more };
  return { method: 'POST', path: reviews, body };
}

/** With nothing but that token, or with these headers. */
export function bearer(token: string, request: Partial<Request> = {}): Request {
  const body = { apiVersion: `${group}/v1`, kind: 'SelfSubjectReview' };
  const who = { method: 'POST', path: selves, body };
  return {
    ...who,
    ...request,
    bare: true,
    headers: { authorization: `Bearer ${token}`, ...request.headers },
  };
}

export const isKnown = (answer: Answer) => String(answer.json['status']?.['authenticated']) === 'true';

/** What somebody may do who is known by a name, so that they are told who they are. */
export function known(names: Names, user: string): Request[] {
  return [
    silent(role(names.ns, 'reader', rule([''], ['configmaps'], ['get']))),
    silent(
      bind(names.ns, 'reader', ['Role', 'reader'], {
        kind: 'User',
        apiGroup: 'rbac.authorization.k8s.io',
        name: user,
      }),
    ),
  ];
}
