import { selectorsInQuery } from '../../../kube/authorization/review.ts';
import { type AccessAnswer, type AccessQuestion, CelAuthorizer, Unanswered } from '../../../kube/cel/rule.ts';
import type { UserInfo } from '../../../kube/http.ts';
import { isLater, type Later } from '../../../kube/later.ts';
import { clusterNameExtra } from '../../authn/service-account.ts';
import type { AdmissionRequest, Attributes, Decision } from '../../plugins.ts';
import type { Question } from './question.ts';

type Asking = Pick<AdmissionRequest, 'user' | 'cluster' | 'authorize'>;

/** What the expressions of one request ask of the authorizer: each question once. */
export class Access {
  readonly #request: Asking;
  readonly #known = new Map<string, AccessAnswer>();
  readonly authorizer: CelAuthorizer = new CelAuthorizer((question) => this.#ask(question));

  constructor(request: Asking) {
    this.#request = request;
  }

  /** The variables of whoever asked `question`. */
  variables({ resource, subresource, namespace, name }: Question) {
    const about = this.authorizer.about({ ...groupResource(resource), subresource, namespace, name });
    return { authorizer: this.authorizer, 'authorizer.requestResource': about };
  }

  #ask(question: AccessQuestion): AccessAnswer {
    const key = JSON.stringify(question);
    const known = this.#known.get(key);
    if (known) return known;
    const decided = this.#decided(question);
    if (isLater(decided)) throw new Unanswered(decided.then((answer) => void this.#known.set(key, answer)));
    this.#known.set(key, decided);
    return decided;
  }

  #decided(question: AccessQuestion): Later<AccessAnswer> {
    const failed = (error: unknown) => answerOf({ allowed: false, error: String(error) });
    try {
      const decision = this.#request.authorize(attributesOf(question, this.#request));
      return isLater(decision) ? decision.then(answerOf, failed) : answerOf(decision);
    } catch (error) {
      return failed(error);
    }
  }
}

/** What it gives, run anew each time that what it asked has been answered. */
export function answered<T>(run: () => T): Later<T> {
  try {
    return run();
  } catch (error) {
    if (!(error instanceof Unanswered)) throw error;
    return error.answered.then(() => answered(run));
  }
}

function groupResource({ group, resource }: { group: string; resource: string }) {
  return { group, resource };
}

function answerOf({ allowed, reason = '', error = '' }: Decision): AccessAnswer {
  return { allowed, reason, error };
}

function attributesOf(
  { account, path, resource, verb }: AccessQuestion,
  { user, cluster }: Asking,
): Attributes {
  const who = account ? userOf(account, cluster) : user;
  const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
  if (!resource) return { ...none, user: who, cluster, verb, path: path ?? '' };
  const { fieldSelector, labelSelector, ...about } = resource;
  const selects = fieldSelector !== '' || labelSelector !== '';
  return {
    user: who,
    cluster,
    verb,
    version: '*',
    ...about,
    ...(selects && {
      selectors: () => selectorsInQuery(new URLSearchParams({ fieldSelector, labelSelector })),
    }),
  };
}

/** Of this logical cluster, in no more groups than such an account has by its name. */
function userOf({ namespace, name }: { namespace: string; name: string }, cluster: string): UserInfo {
  return {
    name: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`],
    extra: { [clusterNameExtra]: [cluster] },
  };
}
