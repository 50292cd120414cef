import { templatePath } from '../../../cluster/pod-spec.ts';
import { sameJson } from '../../../kube/deep.ts';
import { forbidden } from '../../../kube/status.ts';
import { at, isRecord } from '../../../kube/untyped.ts';
import type { AdmissionRequest } from '../../plugins.ts';
import { type Said, settle, type Written } from './settle.ts';

/** What is refused is at a path from which its rule has led elsewhere since: the template that is there, as it is written. */
export function ledElsewhere(written: Written): Written | undefined {
  const { kind, object } = written;
  const path = templatePath(object, kind.rule);
  const template = at(object, ...path);
  return isRecord(template) && !sameJson(path, written.path) ? { ...written, path, template } : undefined;
}

export function isUnchanged({ old, path, template }: Written): boolean {
  return old !== undefined && sameJson(at(old, ...path), template);
}

/**
 * What is at the rule's path goes to clusters as it is written, as long as what is `here` is refused. So until then nothing new comes there
 * that is refused, or admitted with changes; and of what was there already the refusal is kept here.
 */
export function settleLed(
  request: AdmissionRequest,
  written: Written,
  led: Written,
  { here, there }: { here: Said; there: Said },
): void {
  const why = there.refused ?? (here.refused === undefined ? undefined : whyNotAsWritten(led, there));
  if (why !== undefined && !isUnchanged(led)) throw refusedThere(request, led, why);
  if (here.refused !== undefined) settle(request, written, here);
  else if (why !== undefined) settle(request, written, { refused: refusalAt(led, why), isElsewhere: true });
  else settle(request, led, there);
}

function whyNotAsWritten({ template }: Written, { admitted }: Said): string | undefined {
  if (admitted === undefined || sameJson(admitted, template)) return undefined;
  return 'they are admitted with changes alone, which come once what its rule led to before is not refused any more';
}

export function refusedThere({ name }: AdmissionRequest, led: Written, refused: string): Error {
  return forbidden(led.kind, name, `its rule has come to lead elsewhere: ${refusalAt(led, refused)}`);
}

function refusalAt({ path }: Written, refused: string): string {
  return `pods of the template at .${path.join('.')} are refused: ${refused}`;
}
