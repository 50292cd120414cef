import { isRecord, record, strings, text } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { reviewVersions, webhookClient } from '../webhook-client.ts';

const strategies = ['None', 'Webhook'];

/** https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#webhook-conversion */
export function conversion(value: unknown, field: Field): void {
  if (!isRecord(value)) return;
  const strategy = text(value['strategy']);
  if (!strategy) field.child('strategy').required();
  else if (!strategies.includes(strategy)) field.child('strategy').notSupported(strategy, strategies);
  const webhook = record(value['webhook']);
  const client = webhook['clientConfig'];
  const versions = strings(webhook['conversionReviewVersions']);
  // kube-apiserver's own names of these two, which once stood elsewhere.
  const [clientPath, versionsPath] = [
    field.child('webhookClientConfig'),
    field.child('conversionReviewVersions'),
  ];
  if (strategy === 'Webhook') {
    if (isRecord(client)) webhookClient(client, clientPath);
    else clientPath.required('required when strategy is set to Webhook');
    reviewVersions(versions, ['v1', 'v1beta1'], '', versionsPath);
    return;
  }
  const rule = 'should not be set when strategy is not set to Webhook';
  if (isRecord(client)) clientPath.forbidden(rule);
  if (versions.length > 0) versionsPath.forbidden(rule);
}
