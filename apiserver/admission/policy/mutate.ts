import { applyConfigurationIn, jsonPatchIn } from '../../../kube/cel/patch.ts';
import type { JsonObject } from '../../../kube/object.ts';
import { forbidden, StatusError } from '../../../kube/status.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { Access } from '../matching/access.ts';
import { bringIn } from '../matching/bring.ts';
import { questionOf } from '../matching/question.ts';
import type { Session } from '../matching/round.ts';
import type { Invocation, Misconfigured } from './bound.ts';
import { withConfiguration, withJsonPatch } from './change.ts';
import { Costs } from './costs.ts';
import { evaluated, failureOf, meets, messageOf, type Subject, variablesOf } from './evaluate.ts';
import type { MutatingPolicy, Mutation } from './policy.ts';

type Mutating = Invocation<MutatingPolicy> | Misconfigured<MutatingPolicy>;

/**
 * Changes `request.object` as each in turn says, of what those before it left. What fails is left out, and refuses the
 * request in the end unless its policy ignores that. `again`: only those that are due.
 */
export async function mutateBy(
  invocations: readonly Mutating[],
  request: AdmissionRequest,
  session: Session,
  again = false,
): Promise<void> {
  const failures: Failure[] = [];
  const costs = new Costs(request.cluster);
  const access = new Access(request);
  for (const one of invocations) {
    const { policy, binding } = one;
    const who = binding ? `'${policy.name}' with binding '${binding.name}'` : JSON.stringify(policy.name);
    const failed = (message: string, reason: Failure['reason'] = 'Invalid') => {
      if (policy.ignoresFailure) return;
      failures.push({ message: `policy ${who} denied request: ${message}`, reason });
    };
    if ('problem' in one) {
      failed(one.problem, 'Forbidden');
      continue;
    }
    const id = idOf(one);
    if (again && !session.isDue(id)) continue;
    try {
      costs.policy();
      const variables = variablesOf([], await subjectOf(one, request, access), costs);
      if (!(await meets(policy.matchConditions, variables, costs))) continue;
    } catch (error) {
      failed(messageOf(error));
      continue;
    }
    if (await mutateByOne(one, request, { costs, access, failed })) session.didChange();
    if (policy.reinvoke) session.asked(id);
  }
  if (failures.length > 0) throw refused(failures, request);
}

/** True when the object is another one now. */
async function mutateByOne(
  one: Invocation<MutatingPolicy>,
  request: AdmissionRequest,
  { costs, access, failed }: { costs: Costs; access: Access; failed(message: string): void },
): Promise<boolean> {
  let changed = false;
  for (const mutation of one.policy.mutations) {
    await costs.turn();
    const subject = await subjectOf(one, request, access);
    if (subject.question.object === undefined) continue;
    let next: JsonObject;
    try {
      next = await patched(mutation, one, subject, costs);
    } catch (error) {
      failed(error instanceof Error ? error.message : String(error));
      continue;
    }
    const strict = mutation.type === 'JSONPatch';
    const brought = await bringIn(request, { as: one.as, question: subject.question }, next, strict);
    changed = brought || changed;
  }
  return changed;
}

/** The object as it is by now, in the version that the policy is for. */
async function subjectOf(
  { as, params, namespace }: Invocation<MutatingPolicy>,
  request: AdmissionRequest,
  access: Access,
): Promise<Subject> {
  return { question: await questionOf(request, as), access, params, namespace };
}

async function patched(
  { type, expression }: Mutation,
  { policy, as }: Invocation<MutatingPolicy>,
  subject: Subject,
  costs: Costs,
): Promise<JsonObject> {
  const before = subject.question.object as unknown as JsonObject;
  let value: unknown;
  try {
    value = await evaluated(expression, variablesOf(policy.variables, subject, costs), costs);
  } catch (error) {
    throw new Error(failureOf(expression, error));
  }
  return costs.budget.within((share) =>
    type === 'JSONPatch'
      ? withJsonPatch(before, jsonPatchIn(value, share))
      : withConfiguration(before, applyConfigurationIn(value, share), as.schema),
  );
}

/** Two that differ in what they are given to compare with are asked apart. */
function idOf({ policy, binding, params }: Invocation<MutatingPolicy>): string {
  const { namespace = '', name = '' } = params?.metadata ?? {};
  return JSON.stringify([policy.name, binding.name, namespace, name]);
}

/** What cannot be asked forbids; what was asked in vain calls the request invalid. */
interface Failure {
  message: string;
  reason: 'Forbidden' | 'Invalid';
}

function refused(failures: readonly Failure[], request: AdmissionRequest): Error {
  const { details } = forbidden(request.requested.info, request.name, '');
  const causes = failures.map(({ message }) => ({ message }));
  const { message = '', reason = 'Invalid' } = failures[0] ?? {};
  return new StatusError(403, reason, message, { ...details, causes });
}
