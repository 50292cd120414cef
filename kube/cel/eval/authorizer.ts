import { validateDns1123Label, validateDns1123Subdomain } from '../../names.ts';
import { type Budget, RunError } from './budget.ts';
import type { Run } from './run.ts';
import { noOverload, Opaque, type Value } from './values.ts';

/** What an expression asks of an authorizer. Of a path, `resource` is undefined. */
export interface AccessQuestion {
  /** Who is asked about, where it is not whoever made the request. */
  account?: { namespace: string; name: string };
  path?: string;
  resource?: AccessResource;
  verb: string;
}

export interface AccessResource {
  group: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  fieldSelector: string;
  labelSelector: string;
}

export interface AccessAnswer {
  allowed: boolean;
  reason: string;
  /** Empty where nothing kept it from being decided. */
  error: string;
}

/** Throws Unanswered where the answer is not here yet; asked again, it is. */
export type AskAccess = (question: AccessQuestion) => AccessAnswer;

const typeName = (name: string) => `kubernetes.authorization.${name}`;

/** Nothing compares two of them. */
abstract class Asking extends Opaque {
  get key(): string {
    throw noOverload();
  }
}

/** The variable `authorizer`, or an account of it. */
export class CelAuthorizer extends Asking {
  readonly type: string = typeName('Authorizer');
  readonly ask: AskAccess;
  readonly account: AccessQuestion['account'];

  constructor(ask: AskAccess, account?: AccessQuestion['account']) {
    super();
    this.ask = ask;
    this.account = account;
  }

  /** The variable `authorizer.requestResource`. */
  about(resource: Partial<AccessResource> & Pick<AccessResource, 'group' | 'resource'>): Value {
    const none = { subresource: '', namespace: '', name: '', fieldSelector: '', labelSelector: '' };
    return new ResourceCheck(this, { ...none, ...resource });
  }
}

/** What an authorizer is asked about. */
abstract class Check<About> extends Asking {
  readonly of: CelAuthorizer;
  readonly about: About;

  constructor(of: CelAuthorizer, about: About) {
    super();
    this.of = of;
    this.about = about;
  }
}

class PathCheck extends Check<string> {
  readonly type: string = typeName('PathCheck');
}

class GroupCheck extends Check<string> {
  readonly type: string = typeName('GroupCheck');
}

class ResourceCheck extends Check<AccessResource> {
  readonly type: string = typeName('ResourceCheck');
}

class Decision extends Asking {
  readonly type: string = typeName('Decision');
  readonly answer: AccessAnswer;

  constructor(answer: AccessAnswer) {
    super();
    this.answer = answer;
  }
}

/** Two of them are what one expression may cost: https://kubernetes.io/docs/reference/using-api/cel/#kubernetes-authorizer-library */
const checkSteps = 350_000;

/** A part of what a resource's check is about. Selectors are walked through to read them. */
function part(field: keyof AccessResource): Run {
  return (budget, of, value) => {
    if (!(of instanceof ResourceCheck) || typeof value !== 'string') throw noOverload();
    if (field.endsWith('Selector')) budget.text(value);
    return new ResourceCheck(of.of, { ...of.about, [field]: value });
  };
}

function told(read: (answer: AccessAnswer) => Value): Run {
  return (_, of) => {
    if (of instanceof Decision) return read(of.answer);
    throw noOverload();
  };
}

export const authorization: Readonly<Record<string, Run>> = {
  path: (_, of, path) => {
    if (!(of instanceof CelAuthorizer) || typeof path !== 'string') throw noOverload();
    if (path.trim() === '') throw new RunError('path must not be empty');
    return new PathCheck(of, path);
  },
  group: (_, of, group) => {
    if (!(of instanceof CelAuthorizer) || typeof group !== 'string') throw noOverload();
    return new GroupCheck(of, group);
  },
  serviceAccount: (_, of, namespace, name) => {
    if (!(of instanceof CelAuthorizer) || typeof namespace !== 'string' || typeof name !== 'string')
      throw noOverload();
    const account = { namespace, name };
    if (validateDns1123Subdomain(account.name).length > 0) throw new RunError('Invalid service account name');
    if (validateDns1123Label(account.namespace).length > 0)
      throw new RunError('Invalid service account namespace');
    return new CelAuthorizer(of.ask, account);
  },
  resource: (_, of, resource) => {
    if (!(of instanceof GroupCheck) || typeof resource !== 'string') throw noOverload();
    if (resource.trim() === '') throw new RunError('resource must not be empty');
    return of.of.about({ group: of.about, resource });
  },
  subresource: part('subresource'),
  namespace: part('namespace'),
  name: part('name'),
  fieldSelector: part('fieldSelector'),
  labelSelector: part('labelSelector'),
  check,
  allowed: told(({ allowed }) => allowed),
  reason: told(({ reason }) => reason),
  errored: told(({ error }) => error !== ''),
  error: told(({ error }) => error),
};

function check(budget: Budget, of: Value, verb: Value): Value {
  if (!(of instanceof PathCheck || of instanceof ResourceCheck) || typeof verb !== 'string')
    throw noOverload();
  budget.charge(checkSteps);
  const { ask, account } = of.of;
  const about = of instanceof PathCheck ? { path: of.about } : { resource: of.about };
  return new Decision(ask({ ...(account && { account }), ...about, verb }));
}
