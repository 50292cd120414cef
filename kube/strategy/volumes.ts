import { child } from '../defaults/fill.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { timestamp } from '../timestamp.ts';
import { at, record, text } from '../untyped.ts';

/** What else a claim could be filled from can only be said by dataSourceRef; elsewhere it is dropped in silence. */
function isKnownSource(source: JsonObject): boolean {
  const group = text(source['apiGroup']);
  if (source['kind'] === 'PersistentVolumeClaim') return group === '';
  return source['kind'] === 'VolumeSnapshot' && group === 'snapshot.storage.k8s.io';
}

export function claimDataSource(object: KubeObject, old?: KubeObject): void {
  const claim = record(object.spec);
  const before = record(old?.spec);
  // A feature that is off: claims are filled from their own namespace.
  if (text(at(claim, 'dataSourceRef', 'namespace')) && !before['dataSourceRef'])
    delete claim['dataSourceRef'];
  const used = before['dataSource'] !== undefined || before['dataSourceRef'] !== undefined;
  if (
    !used &&
    claim['dataSource'] &&
    !claim['dataSourceRef'] &&
    !isKnownSource(record(claim['dataSource']))
  ) {
    delete claim['dataSource'];
  }
  if (claim['dataSource'] && !claim['dataSourceRef'])
    claim['dataSourceRef'] = { ...record(claim['dataSource']) };
  const ref = record(claim['dataSourceRef']);
  if (!claim['dataSource'] && claim['dataSourceRef'] && !text(ref['namespace']))
    claim['dataSource'] = { ...ref };
}

export function beginPhase(object: KubeObject): void {
  child(object as unknown as JsonObject, 'status')['lastPhaseTransitionTime'] = timestamp();
}

/** A PersistentVolume's phase carries the time of its last change, where the client does not tell of another. */
export function keepPhaseTime(object: KubeObject, old: KubeObject): void {
  const status = child(object as unknown as JsonObject, 'status');
  const before = record(old.status);
  const [told, known] = [text(status['lastPhaseTransitionTime']), text(before['lastPhaseTransitionTime'])];
  const same = text(status['phase']) === text(before['phase']);
  if (same && told === '' && known !== '') status['lastPhaseTransitionTime'] = known;
  if (!same && (told === '' || told === known)) status['lastPhaseTransitionTime'] = timestamp();
}
