import { andThen, type Later } from '../../../kube/later.ts';
import type { Store } from '../../../storage/store.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { group, isExempt } from '../matching/exempt.ts';
import { type Round, Session } from '../matching/round.ts';
import { authorizeParams } from './authorize.ts';
import { BoundPolicies } from './bound.ts';
import { mutateBy } from './mutate.ts';
import {
  type MutatingPolicy,
  mutatingPolicyOf,
  type ValidatingPolicy,
  validatingPolicyOf,
} from './policy.ts';
import { validateBy } from './validate.ts';

/**
 * Asks the Mutating- and ValidatingAdmissionPolicies that a logical cluster has bound.
 * https://kubernetes.io/docs/reference/access-authn-authz/mutating-admission-policy/
 */
export class PolicyDispatcher {
  readonly #catalog: Catalog;
  readonly #mutating: BoundPolicies<MutatingPolicy>;
  readonly #validating: BoundPolicies<ValidatingPolicy>;

  constructor(parts: { store: Store; catalog: Catalog }) {
    this.#catalog = parts.catalog;
    this.#mutating = new BoundPolicies(parts, {
      policies: 'mutatingadmissionpolicies',
      bindings: 'mutatingadmissionpolicybindings',
      read: mutatingPolicyOf,
    });
    this.#validating = new BoundPolicies(parts, {
      policies: 'validatingadmissionpolicies',
      bindings: 'validatingadmissionpolicybindings',
      read: validatingPolicyOf,
    });
  }

  /** Whether any that is bound has a rule for such requests; of which objects, and in which namespaces, is not looked at. */
  concerns(request: AdmissionRequest): Later<boolean> {
    return andThen(this.#mutating.concern(request), (found) => found || this.#validating.concern(request));
  }

  /** One after the other; changes `request.object` in place. Undefined: nobody is asked. */
  mutate(request: AdmissionRequest): Later<Round | undefined> {
    if (isExempt(request) || request.object === undefined) return undefined;
    return andThen(this.#mutating.invocations(request), async (invocations) => {
      if (invocations === undefined || invocations.length === 0) return undefined;
      const session = new Session();
      await mutateBy(invocations, request, session);
      return session.round(request.object, async (next) => {
        const again = (await this.#mutating.invocations(next)) ?? [];
        await mutateBy(again, next, session, true);
      });
    });
  }

  /** The first refusal counts; who is only to be warned is. */
  validate(request: AdmissionRequest): Later<void> {
    if (request.stored.info.group === group) return authorizeParams(request, this.#catalog);
    if (isExempt(request)) return undefined;
    return andThen(this.#validating.invocations(request), (invocations) => {
      return invocations && validateBy(invocations, request);
    });
  }
}
