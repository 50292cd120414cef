import { validateDns1035Label, validateDns1123Subdomain } from '../names.ts';
import type { JsonObject } from '../object.ts';
import { int, isRecord, text } from '../untyped.ts';
import type { Field } from './field.ts';
import { inclusiveRange } from './rules.ts';

/** Where a webhook is: an address or a Service, of admission as of conversion. */
export function webhookClient(client: JsonObject, field: Field): void {
  const target = client['service'];
  if ((client['url'] === undefined) === !isRecord(target))
    field.required('exactly one of url or service is required');
  else if (isRecord(target)) service(target, field.child('service'));
  else url(text(client['url']), field.child('url'));
}

/** Which versions of a review a webhook understands; one of `known` must be among them. */
export function reviewVersions(
  versions: readonly string[],
  known: readonly string[],
  missing: string,
  field: Field,
): void {
  if (versions.length === 0) {
    field.required(missing);
    return;
  }
  for (const [index, version] of versions.entries()) {
    if (versions.indexOf(version) < index) field.index(index).invalid(version, 'duplicate version');
    else field.index(index).invalidAll(version, validateDns1035Label(version));
  }
  if (!versions.some((version) => known.includes(version)))
    field.invalid(versions, `must include at least one of ${known.join(', ')}`);
}

function service(value: JsonObject, field: Field): void {
  // kube-apiserver hands these two over in the wrong order, and so tells of the other.
  if (!text(value['namespace'])) field.child('name').required();
  if (!text(value['name'])) field.child('namespace').required();
  const port = int(value['port']);
  if (port < 1 || port > 65_535)
    field.child('port').invalid(port, `port is not valid: ${inclusiveRange(1, 65_535)}`);
  servicePath(text(value['path']), field.child('path'));
}

function servicePath(path: string, field: Field): void {
  if (path === '' || path === '/') return;
  if (path !== '//' && !path.startsWith('/')) field.invalid(path, "must start with a '/'");
  const steps = path === '//' ? [''] : path.slice(1).replace(/\/$/, '').split('/');
  for (const [index, step] of steps.entries()) {
    if (!step) field.invalid(path, `segment[${index}] may not be empty`);
    else for (const why of validateDns1123Subdomain(step)) field.invalid(path, `segment[${index}]: ${why}`);
  }
}

const urlForm = 'desired format: https://host[/path]';

function url(value: string, field: Field): void {
  const parts = /^(?:([A-Za-z][-+.A-Za-z0-9]*):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/s.exec(
    value,
  );
  const [, scheme = '', authority = '', query = '', fragment = ''] = parts ?? [];
  const at = authority.lastIndexOf('@');
  if (scheme.toLowerCase() !== 'https')
    field.invalid(scheme.toLowerCase(), `'https' is the only allowed URL scheme; ${urlForm}`);
  if (authority.slice(at + 1) === '') field.invalid('', `host must be specified; ${urlForm}`);
  if (at >= 0) field.invalid(authority.slice(0, at), 'user information is not permitted in the URL');
  if (fragment) field.invalid(fragment, 'fragments are not permitted in the URL');
  if (query) field.invalid(query, 'query parameters are not permitted in the URL');
}
