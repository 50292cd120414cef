import type { PlacedKind } from '../../../cluster/kinds.ts';
import { controllersUser } from '../../../cluster/names.ts';
import { isPlaceable } from '../../../cluster/placeable.ts';
import { podAdmissionOf } from '../../../cluster/pod-admission.ts';
import { templatePath } from '../../../cluster/pod-spec.ts';
import { setAt } from '../../../cluster/ruled.ts';
import { deepCopy, sameJson } from '../../../kube/deep.ts';
import { andThen, type Later } from '../../../kube/later.ts';
import type { JsonObject, KubeObject } from '../../../kube/object.ts';
import { invalid, isStatusError } from '../../../kube/status.ts';
import { at, isRecord } from '../../../kube/untyped.ts';
import { validateCreate } from '../../../kube/validation/index.ts';
import { isOwn, isOwnController } from '../../authn/controllers.ts';
import type { Core } from '../../core.ts';
import type { AdmissionPlugin, AdmissionRequest } from '../../plugins.ts';
import { defaulted } from '../../registry/context.ts';
import { isOutOfTime } from '../webhook/time.ts';
import { kindOf } from './kind.ts';
import { isUnchanged, ledElsewhere, refusedThere, settleLed } from './led.ts';
import { note } from './note.ts';
import { podMaker, podOf, templateFrom } from './pod.ts';
import { isMoved, runsOf, type Said, settle, type Written } from './settle.ts';
import { askAsStored } from './versions.ts';

/** Lets policies and webhooks change what is asked about, as of any request. */
type Mutating = (core: Core, request: AdmissionRequest) => Later<void>;

/**
 * Pods of workloads are made on physical clusters, by whose API servers no webhook or policy of the logical cluster is
 * asked. So these are asked here, about one pod for each template: when it is written, and as long as it is refused with each
 * write. What they say is kept in an annotation of the workload, see cluster/pod-admission.ts: a refusal refuses pods, not the
 * workload. Docs: docs/decisions/0057-pods-are-asked-about-by-template.md
 */
export function askOfPods(core: Core, request: AdmissionRequest, mutating: Mutating): Later<void> {
  if (!core.podsElsewhere || !isWriteOfObject(request)) return undefined;
  return andThen(kindOf(core, request), (kind) => {
    if (!kind) return letGo(request);
    const { conversion } = request.stored;
    const as = conversion?.versions.get(conversion.storageVersion);
    if (as && as.info.version !== request.stored.info.version)
      return askAsStored(request, as, (stored) => asking(core, stored, kind, mutating));
    return asking(core, request, kind, mutating);
  });
}

function asking(core: Core, request: AdmissionRequest, kind: PlacedKind, mutating: Mutating): Later<void> {
  const written = writtenIn(request, kind);
  return written ? askOf(core, request, written, mutating) : letGo(request);
}

/** Of what is not placed, or no more, there are no pods to say anything of. */
function letGo({ object }: AdmissionRequest): undefined {
  if (object) note(object, undefined);
}

function isWriteOfObject({ object, subresource, operation, kind }: AdmissionRequest): boolean {
  const isWritten = operation === 'CREATE' || operation === 'UPDATE';
  return isWritten && object !== undefined && kind === undefined && subresource === '';
}

function writtenIn(
  { object, old, stored: { info } }: AdmissionRequest,
  kind: PlacedKind,
): Written | undefined {
  if (!object || kind.role !== 'workload' || kind.kind === 'Pod' || !isPlaceable(kind, object))
    return undefined;
  // Of what was another's, or no workload's, until now nobody was asked.
  const before = old && isPlaceable(kind, old) ? old : undefined;
  const path = pathOf(kind, object, before);
  const template = at(object, ...path);
  if (!isRecord(template)) return undefined;
  return { kind, info, object, old: before, path, template };
}

/** What is refused is asked about until it is not, though a rule has come to lead elsewhere: what runs stays as it is meanwhile. */
function pathOf({ rule }: PlacedKind, object: KubeObject, old: KubeObject | undefined): readonly string[] {
  const { refused, path } = (old && podAdmissionOf(old)) ?? {};
  const isAsked = refused !== undefined && path !== undefined && isRecord(at(object, ...path));
  return isAsked ? path : templatePath(object, rule);
}

function askOf(core: Core, request: AdmissionRequest, written: Written, mutating: Mutating): Later<void> {
  const { object, old, template } = written;
  const before = old && podAdmissionOf(old);
  const led = ledElsewhere(written);
  const isSame = isUnchanged(written) && (!led || isUnchanged(led));
  // What is being deleted is made anew of another template all the same.
  const isGoing = object.metadata.deletionTimestamp !== undefined;
  if (isSame && (isGoing || !(before?.refused !== undefined && asksAgain(request)))) return undefined;
  // Nothing is made of a dry run, so nobody is asked; nor has a diff to tell of what was said before.
  if (request.dryRun) return undefined;
  const runs = before?.refused === undefined ? undefined : runsOf(written);
  // Who goes back to it asks for no new pod.
  const isBack = runs !== undefined && sameJson(runs.written, template);
  const said = isBack ? { admitted: runs.admitted } : ask(core, request, written, mutating);
  return andThen(said, (here) => {
    if (!here) return;
    if (here.refused !== undefined && isMoved(written)) throw refusedThere(request, written, here.refused);
    if (!led || (here.refused !== undefined && isUnchanged(led))) return settle(request, written, here);
    return andThen(ask(core, request, led, mutating), (there = {}) =>
      settleLed(request, written, led, { here, there }),
    );
  });
}

/** The server's own write what they have to say many times: one of them is there to ask again, see controller/admission/. */
function asksAgain({ user }: AdmissionRequest): boolean {
  return !isOwnController(user) || isOwn(user, controllersUser);
}

function ask(
  core: Core,
  request: AdmissionRequest,
  written: Written,
  mutating: Mutating,
): Later<Said | undefined> {
  const pods = core.catalog.stored(request.cluster, '', 'pods');
  if (!pods) return undefined;
  const { cluster, namespace, registry, authorize } = request;
  const asked: AdmissionRequest = {
    user: podMaker(written.kind),
    operation: 'CREATE',
    cluster,
    stored: pods,
    requested: pods,
    subresource: '',
    namespace,
    name: '',
    dryRun: false,
    fresh: true,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    until: request.until,
    registry,
    authorize,
    inVersion: (one) => one,
    warn: (message) => request.warn(message),
    annotate: request.annotate,
  };
  const isAnybodyAsked = andThen(
    core.policies.concerns(asked),
    (found) => found || core.webhooks.concerns(asked),
  );
  return andThen(isAnybodyAsked, (isAsked) => {
    if (!isAsked) return {};
    const { kind, object: workload, template } = written;
    const object = defaulted(podOf(kind, workload, template), pods);
    const about = { ...asked, name: object.metadata.name ?? '', object };
    return answered(core, about, written, mutating);
  });
}

async function answered(
  core: Core,
  asked: AdmissionRequest,
  written: Written,
  mutating: Mutating,
): Promise<Said> {
  const { object } = asked;
  if (!object) return {};
  const builtin = core.builtin.map(lenient);
  try {
    for (const plugin of builtin) await plugin.mutate?.(asked);
    const shown = deepCopy(object);
    await mutating({ ...core, builtin }, asked);
    await core.policies.validate(asked);
    await core.webhooks.validate(asked);
    const admitted = templateFrom(written.template, shown, object);
    insistOnTemplate(asked, written, admitted);
    return { admitted };
  } catch (error) {
    if (!isStatusError(error) || isOutOfTime(asked)) throw error;
    return { refused: error.message };
  }
}

/** Whoever is asked sees a pod as Kubernetes shows it; what its own plugins refuse is for the physical cluster's to refuse. */
function lenient({ name, mutate }: AdmissionPlugin): AdmissionPlugin {
  if (!mutate) return { name };
  return {
    name,
    async mutate(request) {
      try {
        await mutate(request);
      } catch (error) {
        if (!isStatusError(error)) throw error;
      }
    },
  };
}

/** Not every pod can be had by a template, nor by that of this workload: its selector must find it. */
function insistOnTemplate(
  asked: AdmissionRequest,
  { kind, info, object, path, template }: Written,
  admitted: JsonObject,
): void {
  if (kind.rule || sameJson(template, admitted)) return;
  // By field: what is said of it has its value in it, and a Job's labels and selector are made only after this.
  const before = validateCreate(object, info).map(({ field }) => field);
  const changed = setAt(object, path, admitted) as unknown as KubeObject;
  const causes = validateCreate(changed, info).filter(({ field }) => !before.includes(field));
  if (causes.length > 0) throw invalid('', 'Pod', asked.name, causes);
}
