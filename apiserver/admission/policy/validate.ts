import { forbidden, StatusError } from '../../../kube/status.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { Access } from '../matching/access.ts';
import { AuditAnnotations } from './annotations.ts';
import type { Invocation, Misconfigured } from './bound.ts';
import { Costs } from './costs.ts';
import { type Denial, verdictOf } from './evaluate.ts';
import type { Binding, ValidatingPolicy } from './policy.ts';

const codes: Readonly<Record<string, number>> = {
  Unauthorized: 401,
  Forbidden: 403,
  RequestEntityTooLarge: 413,
};

interface Refusal extends Denial {
  policy: string;
  binding: string | undefined;
}

/** Rejects by the first refusal; warns of those that are only to be told, and has them recorded. */
export async function validateBy(
  invocations: readonly (Invocation<ValidatingPolicy> | Misconfigured<ValidatingPolicy>)[],
  request: AdmissionRequest,
): Promise<void> {
  const refusals: Refusal[] = [];
  const costs = new Costs(request.cluster);
  const access = new Access(request);
  const recorded = request.annotate && new AuditAnnotations(request.annotate);
  for (const one of invocations) {
    const names = { policy: one.policy.name, binding: one.binding?.name };
    if ('problem' in one) {
      refusals.push({ message: one.problem, reason: 'Invalid', index: undefined, ...names });
      continue;
    }
    const verdict = await verdictOf(one.policy, { ...one, access }, costs);
    for (const denial of verdict.denials) {
      const isOwn = denial.index === undefined;
      if (isOwn || one.binding.actions.includes('Deny')) refusals.push({ ...denial, ...names });
      if (isOwn) continue;
      recorded?.failed(denial, one.binding);
      warn(denial.message, one.binding, one.policy, request);
    }
    for (const { name, value } of verdict.annotations) recorded?.add(`${one.policy.name}/${name}`, value);
  }
  recorded?.write();
  const [first] = refusals;
  if (first) throw refused(first, request);
}

function warn(
  message: string,
  { name, actions }: Binding,
  policy: { name: string },
  request: AdmissionRequest,
): void {
  if (!actions.includes('Warn')) return;
  request.warn(
    `Validation failed for ValidatingAdmissionPolicy '${policy.name}' with binding '${name}': ${message}`,
  );
}

function refused({ policy, binding, message, reason }: Refusal, request: AdmissionRequest): Error {
  const bound = binding === undefined ? '' : ` with binding '${binding}'`;
  const why = `ValidatingAdmissionPolicy '${policy}'${bound} denied request: ${message}`;
  const name = request.collection ? 'Unknown' : request.name;
  const error = forbidden(request.requested.info, name, why);
  const { details } = error;
  const causes = [...(details?.causes ?? []), { message: why }];
  return new StatusError(codes[reason] ?? 422, reason as never, error.message, { ...details, causes });
}
