import type { GroupVersionKind } from '../../kube/gvk.ts';
import type { JsonObject, KubeObject } from '../../kube/object.ts';
import type { ResourceExchange } from '../core.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../plugins.ts';
import { quotaAdmission } from './quota.ts';
import type { Round } from './webhook/dispatch.ts';

/** A promise only where somebody has to be waited for: mostly nobody has. */
type Maybe = Promise<void> | undefined;

export interface Admission {
  /** `object` is undefined for a deletion. */
  mutate(object: KubeObject | undefined, old: KubeObject | undefined): Maybe;
  validate(object: KubeObject | undefined, old: KubeObject | undefined): Maybe;
}

export interface Given {
  /** Default: those of the URL. */
  subresource?: string;
  name?: string;
  /** Of the objects, when it is not the resource's own. */
  kind?: GroupVersionKind;
}

/**
 * The plugins, bound to one request. They see objects in the stored version.
 * Mutating: built-in ones · webhooks · again both, as far as the webhooks changed anything · the server's own, which
 * have the last word. Validating: the server's own · built-in ones · webhooks · quotas.
 */
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
      return after(inTurn(core.builtin, 'mutate', asked), () => {
        const round = core.webhooks.mutate(asked);
        return after(
          round?.then((done) => repeat(core, done, asked)),
          () => inTurn(core.admission, 'mutate', asked),
        );
      });
    },
    validate(object, old) {
      const asked = new Asked(exchange, operation, dryRun, { ...given, object, old, fresh: false });
      return after(inTurn(core.admission, 'validate', asked), () =>
        after(inTurn(core.builtin, 'validate', asked), () =>
          // Last: what is refused by another uses nothing.
          after(core.webhooks.validate(asked), () => inTurn(quotas, 'validate', asked)),
        ),
      );
    },
  };
}

const quotas = [quotaAdmission];

async function repeat({ builtin }: ResourceExchange['core'], round: Round, asked: AdmissionRequest) {
  if (!round.changed) return;
  await inTurn(builtin, 'mutate', asked);
  await round.again(asked);
}

function after(waiting: Maybe, next: () => Maybe): Maybe {
  return waiting ? waiting.then(next) : next();
}

function inTurn(
  plugins: readonly AdmissionPlugin[],
  step: 'mutate' | 'validate',
  asked: AdmissionRequest,
  from = 0,
): Maybe {
  for (let i = from; i < plugins.length; i++) {
    const waiting = plugins[i]?.[step]?.(asked);
    if (waiting instanceof Promise) return waiting.then(() => inTurn(plugins, step, asked, i + 1));
  }
  return undefined;
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
  readonly object?: KubeObject;
  readonly old?: KubeObject;
  readonly dryRun: boolean;
  readonly fresh: boolean;
  readonly registry: AdmissionRequest['registry'];
  readonly authorize: AdmissionRequest['authorize'];
  readonly #exchange: ResourceExchange;
  readonly #verb: AdmissionRequest['operation'];

  constructor(
    exchange: ResourceExchange,
    operation: AdmissionRequest['operation'],
    dryRun: boolean,
    { object, old, kind, fresh, subresource, name }: Subject,
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
    this.registry = core.registry;
    this.authorize = core.authorize;
    this.#exchange = exchange;
    this.#verb = operation;
    if (kind) this.kind = kind;
    if (object) this.object = object;
    if (old) this.old = old;
  }

  /** Only webhooks look at them. */
  get options(): JsonObject | undefined {
    return optionsOf(this.#exchange, this.#verb);
  }

  warn(message: string): void {
    const { warnings } = this.#exchange;
    if (!warnings.includes(message)) warnings.push(message);
  }
}

const optionKinds: Readonly<Record<string, string>> = {
  CREATE: 'CreateOptions',
  UPDATE: 'UpdateOptions',
  DELETE: 'DeleteOptions',
};

function optionsOf(
  { info }: ResourceExchange,
  operation: AdmissionRequest['operation'],
): JsonObject | undefined {
  const kind = operation === 'UPDATE' && info.verb === 'patch' ? 'PatchOptions' : optionKinds[operation];
  if (kind === undefined) return undefined;
  const { query } = info;
  const dryRun = query.getAll('dryRun').filter(Boolean);
  const word = (name: string) => (query.get(name) ? { [name]: query.get(name) } : {});
  return {
    kind,
    apiVersion: 'meta.k8s.io/v1',
    ...(dryRun.length > 0 && { dryRun }),
    ...(kind === 'PatchOptions' && query.get('force') && { force: query.get('force') === 'true' }),
    ...word('fieldManager'),
    ...word('fieldValidation'),
  };
}
