import { formatApiVersion, type GroupVersionKind } from '../../kube/gvk.ts';
import { andThen, inTurn, type Later } from '../../kube/later.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import { isOwnController } from '../authn/controllers.ts';
import type { Core, ResourceExchange } from '../core.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { fromStored } from '../registry/convert.ts';
import type { DeleteOptions } from '../registry/types.ts';
import type { ServedResource } from '../served.ts';
import type { Round } from './matching/round.ts';
import { quotaAdmission } from './quota.ts';
import { askOfPods } from './template/ask.ts';
import { isTouch } from './template/note.ts';

export interface Admission {
  /** `object` is undefined for a deletion. */
  mutate(object: KubeObject | undefined, old: KubeObject | undefined): Later<void>;
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Later<void>;
}

export interface Given {
  /** Default: those of the URL. */
  subresource?: string;
  name?: string;
  /** Of the objects, when it is not the resource's own. */
  kind?: GroupVersionKind;
  /** Of a deletion. */
  options?: DeleteOptions;
}

/** The plugins, bound to one request. They see objects in the stored version. */
export function admissionFor(
  exchange: ResourceExchange,
  operation: AdmissionRequest['operation'],
  dryRun: boolean,
  given?: Given,
): Admission {
  const { core } = exchange;
  return {
    mutate(object, old) {
      const asked = new Asked(exchange, operation, dryRun, { ...given, object, old, fresh: true });
      return inTurn(mutating, (step) => step(core, asked));
    },
    validate(object, old) {
      const asked = new Asked(exchange, operation, dryRun, { ...given, object, old, fresh: false });
      return inTurn(validating, (step) => step(core, asked));
    },
  };
}

type Step = (core: Core, asked: AdmissionRequest) => Later<void>;

const byUsers: Step = ({ policies, webhooks, builtin }, asked) =>
  andThen(policies.mutate(asked), (policyRound) =>
    andThen(webhooks.mutate(asked), (webhookRound) => repeat(builtin, [policyRound, webhookRound], asked)),
  );

const mutating: readonly Step[] = [
  ({ builtin }, asked) => mutate(builtin, asked),
  (core, asked) => (isTouch(asked) ? undefined : byUsers(core, asked)),
  // The server's own have the last word.
  ({ admission }, asked) => mutate(admission, asked),
  // What is written is by now what will be.
  (core, asked) => askOfPods(core, asked, byUsers),
];

const validating: readonly Step[] = [
  ({ admission }, asked) => validate(admission, asked),
  ({ builtin }, asked) => validate(builtin, asked),
  ({ policies }, asked) => (isTouch(asked) ? undefined : policies.validate(asked)),
  ({ webhooks }, asked) => (isTouch(asked) ? undefined : webhooks.validate(asked)),
  // Last: what is refused by another uses nothing.
  (_, asked) => quotaAdmission.validate?.(asked),
];

function mutate(plugins: readonly AdmissionPlugin[], asked: AdmissionRequest): Later<void> {
  return inTurn(plugins, (plugin) => plugin.mutate?.(asked));
}

function validate(plugins: readonly AdmissionPlugin[], asked: AdmissionRequest): Later<void> {
  return inTurn(plugins, (plugin) => plugin.validate?.(asked));
}

/** What policies or webhooks changed is looked at again, by the built-in plugins and then by those of them that care. */
function repeat(
  builtin: readonly AdmissionPlugin[],
  given: readonly (Round | undefined)[],
  asked: AdmissionRequest,
): Later<void> {
  const rounds = given.flatMap((round) => round ?? []);
  if (!rounds.some(({ changed }) => changed)) return undefined;
  return andThen(mutate(builtin, asked), () => inTurn(rounds, (round) => round.again(asked)));
}

interface Subject extends Given {
  object: KubeObject | undefined;
  old: KubeObject | undefined;
  fresh: boolean;
}

/** Made for every write, so it is a class: a getter in a literal would be made with each of them. */
class Asked implements AdmissionRequest {
  readonly user: AdmissionRequest['user'];
  readonly operation: AdmissionRequest['operation'];
  readonly cluster: string;
  readonly stored: AdmissionRequest['stored'];
  readonly requested: AdmissionRequest['requested'];
  readonly kind?: GroupVersionKind;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly collection?: boolean;
  readonly object?: KubeObject;
  readonly old?: KubeObject;
  readonly dryRun: boolean;
  readonly fresh: boolean;
  readonly until: number | undefined;
  readonly registry: AdmissionRequest['registry'];
  readonly authorize: AdmissionRequest['authorize'];
  readonly #exchange: ResourceExchange;
  readonly #verb: AdmissionRequest['operation'];
  readonly #deletion: DeleteOptions | undefined;

  constructor(
    exchange: ResourceExchange,
    operation: AdmissionRequest['operation'],
    dryRun: boolean,
    { object, old, kind, fresh, subresource, name, options }: Subject,
  ) {
    const { core, info, user, stored, served } = exchange;
    this.user = user;
    this.operation = operation === 'UPDATE' && old === undefined ? 'CREATE' : operation;
    this.cluster = info.cluster;
    this.stored = stored;
    this.requested = served;
    this.subresource = subresource ?? info.subresource;
    this.namespace = served.info.namespaced ? info.namespace : '';
    this.name = name ?? (info.name || (object ?? old)?.metadata.name) ?? '';
    this.dryRun = dryRun;
    this.fresh = fresh;
    this.until = exchange.until;
    this.registry = core.registry;
    this.authorize = core.authorize;
    this.#exchange = exchange;
    this.#verb = operation;
    this.#deletion = options;
    if (kind) this.kind = kind;
    if (options?.collection) this.collection = true;
    if (object) this.object = object;
    if (old) this.old = old;
  }

  /** Only policies and webhooks look at them. */
  get options(): JsonObject | undefined {
    return optionsOf(this.#exchange, this.#verb, this.dryRun, this.#deletion);
  }

  get patch(): Uint8Array | undefined {
    const { info, request } = this.#exchange;
    return info.verb === 'patch' ? request.body : undefined;
  }

  inVersion(object: KubeObject, as: ServedResource): Later<KubeObject> {
    const { core, info, user, request } = this.#exchange;
    const apiVersion = formatApiVersion(as.info);
    if (as.conversion === undefined) return { ...fromStored(object, as), apiVersion, kind: as.info.kind };
    if (isOwnController(user) || object.apiVersion === apiVersion) return object;
    return core.converter.one({ cluster: info.cluster, served: as, signal: request.signal }, object);
  }

  warn(message: string): void {
    this.#exchange.warnings.add(message);
  }

  get annotate(): AdmissionRequest['annotate'] {
    const { audit } = this.#exchange;
    return audit && ((key, value) => audit.annotated(key, value));
  }
}

const optionKinds: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

/** Of a PATCH those of what becomes of it: a create or an update. */
function optionsOf(
  { info }: ResourceExchange,
  operation: AdmissionRequest['operation'],
  dryRun: boolean,
  deletion: DeleteOptions | undefined,
): JsonObject | undefined {
  const kind = optionKinds[operation];
  if (kind === undefined) return undefined;
  const common = { kind, apiVersion: 'meta.k8s.io/v1', ...(dryRun && { dryRun: ['All'] }) };
  if (operation === 'DELETE') return { ...common, ...(deletion && deletionOf(deletion)) };
  const word = (name: string) => (info.query.get(name) ? { [name]: info.query.get(name) } : {});
  return { ...common, ...word('fieldManager'), ...word('fieldValidation') };
}

function deletionOf({
  uid,
  resourceVersion,
  propagationPolicy,
  gracePeriodSeconds,
}: DeleteOptions): JsonObject {
  const preconditions = {
    ...(uid !== undefined && { uid }),
    ...(resourceVersion !== undefined && { resourceVersion }),
  };
  return {
    ...(gracePeriodSeconds !== undefined && { gracePeriodSeconds }),
    ...(Object.keys(preconditions).length > 0 && { preconditions }),
    ...(propagationPolicy !== undefined && { propagationPolicy }),
  };
}
