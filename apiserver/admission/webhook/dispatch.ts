import { andThen, type Later } from '../../../kube/later.ts';
import type { JsonObject } from '../../../kube/object.ts';
import { othersFirst } from '../../../kube/others-first.ts';
import { badRequest, internalError } from '../../../kube/status.ts';
import { textAt } from '../../../kube/untyped.ts';
import type { Entry, Store } from '../../../storage/store.ts';
import { isOwnController } from '../../authn/controllers.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import type { Catalog } from '../../registry/catalog.ts';
import { decodeStored } from '../../registry/codec.ts';
import { collectionRange } from '../../registry/keys.ts';
import { recentList } from '../../registry/recent.ts';
import type { TraceAttributes, Tracer } from '../../tracer.ts';
import { WebhookCallError, type WebhookCaller } from '../../webhook/call.ts';
import { Access } from '../matching/access.ts';
import { group, isExempt, isTakenAway } from '../matching/exempt.ts';
import { hasRuleFor } from '../matching/match.ts';
import { type Round, Session } from '../matching/round.ts';
import { type Hook, hooksOf } from './hook.ts';
import { applyPatch } from './patch.ts';
import { type Asked, questionFor } from './question.ts';
import { denial, ReviewError, reviewOf, type Verdict, verdictOf } from './review.ts';
import { millisFor, requireTime } from './time.ts';

const configurations = {
  mutating: { group, resource: 'mutatingwebhookconfigurations', namespaced: false },
  validating: { group, resource: 'validatingwebhookconfigurations', namespaced: false },
};

const none: readonly Hook[] = [];
/** Of those that validate so many are asked at a time for a request: each is sent all of the object. */
const mostAtOnce = 16;
/** Once it has taken so long to send them the object, as with a large one, others go first. */
const turnMs = 2;

/**
 * Calls the webhooks that a logical cluster's configurations name.
 * https://kubernetes.io/docs/reference/access-authn-authz/extensible-admission-controllers/
 */
export class WebhookDispatcher {
  readonly #store: Store;
  readonly #catalog: Catalog;
  readonly #caller: WebhookCaller;
  readonly #tracer: Tracer | undefined;
  readonly #parsed = new WeakMap<Uint8Array, Hook[]>();

  constructor(parts: {
    store: Store;
    catalog: Catalog;
    caller: WebhookCaller;
    tracer?: Tracer | undefined;
  }) {
    this.#store = parts.store;
    this.#catalog = parts.catalog;
    this.#caller = parts.caller;
    this.#tracer = parts.tracer;
  }

  /** Whether any has a rule for such requests; of which objects, and in which namespaces, is not looked at. */
  concerns(request: AdmissionRequest): Later<boolean> {
    const some = (kind: keyof typeof configurations) =>
      andThen(this.#hooks(request, kind), (hooks) => hooks.some((hook) => hasRuleFor(hook, request)));
    return andThen(some('mutating'), (found) => found || some('validating'));
  }

  /** One after the other, by the configurations' names; changes `request.object` in place. Undefined: nobody is asked. */
  mutate(request: AdmissionRequest): Later<Round | undefined> {
    return andThen(this.#hooks(request, 'mutating'), (hooks) =>
      hooks.length === 0 ? undefined : this.#mutate(request, hooks),
    );
  }

  async #mutate(request: AdmissionRequest, hooks: readonly Hook[]): Promise<Round> {
    const session = new Session();
    await this.#mutateOnce(request, hooks, session);
    return session.round(request.object, async (next) => {
      await this.#mutateOnce(next, hooks, session, true);
    });
  }

  /** Together; the first refusal counts. */
  validate(request: AdmissionRequest): Later<void> {
    return andThen(this.#hooks(request, 'validating'), (hooks) =>
      hooks.length === 0 ? undefined : this.#validate(request, hooks),
    );
  }

  async #validate(request: AdmissionRequest, hooks: readonly Hook[]): Promise<void> {
    const asked: Asked[] = [];
    const access = new Access(request);
    for (const hook of hooks) {
      const one = await questionFor(hook, request, this.#catalog, access);
      if (one) asked.push(one);
    }
    const due = eachOf(asked);
    let took = 0;
    const askSome = async () => {
      for (const one of due) {
        if (took >= turnMs) {
          await othersFirst(request.cluster);
          took = 0;
        }
        const began = performance.now();
        const verdict = this.#ask(one, request, false);
        took += performance.now() - began;
        await verdict;
      }
    };
    await Promise.all(asked.slice(0, mostAtOnce).map(askSome));
  }

  /** `again`: only those that are due by their turn, as after what the one before them changed. */
  async #mutateOnce(
    request: AdmissionRequest,
    hooks: readonly Hook[],
    session: Session,
    again = false,
  ): Promise<void> {
    const access = new Access(request);
    for (const hook of hooks) {
      if (again && !session.isDue(hook.id)) continue;
      const asked = await questionFor(hook, request, this.#catalog, access);
      if (asked === undefined) continue;
      const verdict = await this.#ask(asked, request, true);
      if (verdict?.patch !== undefined && (await applyPatch(request, asked, verdict.patch)))
        session.didChange();
      if (hook.reinvoke) session.asked(hook.id);
    }
  }

  #hooks(request: AdmissionRequest, kind: keyof typeof configurations): Later<readonly Hook[]> {
    if (isExempt(request)) return none;
    const range = collectionRange(configurations[kind], request.cluster, '');
    return andThen(recentList(this.#store, range), (entries) => {
      if (entries.length === 0) return none;
      const hooks = () => entries.flatMap((entry) => this.#parse(entry));
      if (!isOwnController(request.user)) return hooks();
      return isTakenAway(this.#store, request).then((isLeft) => (isLeft ? none : hooks()));
    });
  }

  #parse(entry: Entry): Hook[] {
    let hooks = this.#parsed.get(entry.value);
    if (hooks === undefined) {
      hooks = hooksOf(decodeStored(entry));
      this.#parsed.set(entry.value, hooks);
    }
    return hooks;
  }

  /** undefined: it failed and may. */
  async #ask(asked: Asked, request: AdmissionRequest, mutating: boolean): Promise<Verdict | undefined> {
    const { hook, question } = asked;
    if (question.dryRun && hook.sideEffects !== 'None' && hook.sideEffects !== 'NoneOnDryRun') {
      throw badRequest(`admission webhook ${JSON.stringify(hook.name)} does not support dry run`);
    }
    const { config, timeoutSeconds } = hook;
    const millis = millisFor(request, timeoutSeconds);
    let verdict: Verdict;
    try {
      const review = reviewOf(question, hook.reviewVersions);
      if (review === undefined) throw new ReviewError(unknownVersions);
      const call = { cluster: request.cluster, config, timeoutSeconds, millis, review };
      const others = () => othersFirst(request.cluster);
      const post = () => this.#caller.post(call, (answer) => verdictOf(answer, review, mutating, others));
      const name = mutating ? 'Call mutating webhook' : 'Call validating webhook';
      verdict = await (this.#tracer?.call(name, traced(asked, review), post) ?? post());
    } catch (error) {
      const why = failureOf(error);
      if (why === undefined) throw error;
      if (hook.ignoreFailure) {
        requireTime(request);
        return undefined;
      }
      throw internalError(`failed calling webhook ${JSON.stringify(hook.name)}: ${why}`);
    }
    for (const warning of verdict.warnings) request.warn(warning);
    if (!verdict.allowed) throw denial(hook.name, verdict.result);
    return verdict;
  }
}

/** Once, by whoever asks next: whoever fails ends it for all. */
function* eachOf(asked: readonly Asked[]): Generator<Asked> {
  yield* asked;
}

/** As kube-apiserver has them. */
function traced({ hook, question }: Asked, review: JsonObject): TraceAttributes {
  const { requestResource, subresource, operation } = question;
  const { group, version, resource } = requestResource;
  return {
    configuration: hook.configuration,
    webhook: hook.name,
    resource: `${group}/${version}, Resource=${resource}`,
    subresource,
    operation,
    UID: textAt(review, 'request', 'uid') ?? '',
  };
}

const unknownVersions =
  'could not create admission objects: webhook does not accept known AdmissionReview versions (v1, v1beta1)';

function failureOf(error: unknown): string | undefined {
  if (error instanceof WebhookCallError) return `failed to call webhook: ${error.message}`;
  return error instanceof ReviewError ? error.message : undefined;
}
