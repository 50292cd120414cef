import { isLater, type Later } from '../../kube/later.ts';
import type { PolicyRule } from '../../kube/rbac/rule.ts';
import type { Attributes, AuthorizationMode, Decision } from '../plugins.ts';

/** Asks each in order; the first that allows or denies has decided. Waits only where one does. */
export function chain(modes: readonly AuthorizationMode[]): AuthorizationMode {
  return {
    authorize: (asked) => ask(modes, asked, 0, []),
    rulesFor(cluster, user, namespace) {
      const told = modes.map((mode) => mode.rulesFor(cluster, user, namespace));
      const error = aggregate(told);
      return {
        rules: told.flatMap(({ rules }) => rules),
        ...(told.some(({ incomplete }) => incomplete) && { incomplete: true }),
        ...(error !== undefined && { error }),
      };
    },
  };
}

function ask(
  modes: readonly AuthorizationMode[],
  asked: Attributes,
  from: number,
  before: readonly Decision[],
): Later<Decision> {
  let said = before;
  for (let i = from; i < modes.length; i++) {
    const decision = (modes[i] as AuthorizationMode).authorize(asked);
    const next = i + 1;
    if (isLater(decision))
      return decision.then((one) => (isFinal(one) ? one : ask(modes, asked, next, [...said, one])));
    if (isFinal(decision)) return decision;
    said = [...said, decision];
  }
  const reason = said.flatMap((one) => (one.reason ? [one.reason] : [])).join('\n');
  const error = aggregate(said);
  return { allowed: false, ...(reason !== '' && { reason }), ...(error !== undefined && { error }) };
}

function isFinal({ allowed, denied }: Decision): boolean {
  return allowed || denied === true;
}

/** As Go shows several errors. */
function aggregate(said: readonly { error?: string }[]): string | undefined {
  const errors = new Set(said.flatMap(({ error }) => (error === undefined ? [] : [error])));
  return errors.size < 2 ? [...errors][0] : `[${[...errors].join(', ')}]`;
}

const everything: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

export const alwaysAllow: AuthorizationMode = {
  authorize: () => ({ allowed: true }),
  rulesFor: () => ({ rules: everything }),
};

export const alwaysDeny: AuthorizationMode = {
  authorize: () => ({ allowed: false, reason: 'Everything is forbidden.' }),
  rulesFor: () => ({ rules: [] }),
};
