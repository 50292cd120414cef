import { expect, test } from 'vitest';
import { bringIn } from '../../../../../apiserver/admission/matching/bring.ts';
import type { Meant } from '../../../../../apiserver/admission/matching/question.ts';
import type { AdmissionRequest } from '../../../../../apiserver/plugins.ts';
import type { JsonObject, KubeObject } from '../../../../../kube/object.ts';

const kind = { group: '', version: 'v1', kind: 'PodExecOptions' };
const options = { apiVersion: 'v1', kind: 'PodExecOptions', command: ['ls'] };

/** What a webhook sees of a connection's options has no metadata, which is no change of theirs. */
test.each([
  [['ls'], false],
  [['sh'], true],
])('options of a connection that come back with the command %j are others: %s', (command, changed) => {
  const object = { ...options, metadata: {} } as unknown as KubeObject;
  const request = { object, kind, user: { name: 'u', groups: [] } } as unknown as AdmissionRequest;
  const meant = { question: { object: options }, as: { info: kind } } as unknown as Meant;
  expect(bringIn(request, meant, { ...options, command } as JsonObject)).toBe(changed);
});
