import { validateDns1123Subdomain } from '../../names.ts';
import type { JsonObject } from '../../object.ts';
import { at, isRecord } from '../../untyped.ts';
import type { Field } from '../field.ts';
import { eachContainer } from './platform.ts';

const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/;
const label = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?';
const domainName = new RegExp(`^${label}(?:\\.${label})*$`);

/** `DOMAIN\\USER`, the domain optional. */
function userNameMessages(name: string): string[] {
  if (name === '') return ['cannot be an empty string'];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is looked for
  if (/[\x00-\x1f\x7f]/.test(name)) return ['cannot contain control characters'];
  const parts = name.split('\\');
  if (parts.length > 2) return ['cannot contain more than one backslash'];
  const user = parts.at(-1) ?? '';
  const domain = parts.length === 2 ? (parts[0] ?? '') : undefined;
  const messages: string[] = [];
  if (domain !== undefined && domain.length >= 256)
    messages.push("'s Domain length must be under 256 characters");
  if (domain !== undefined && !netBios.test(domain) && !domainName.test(domain))
    messages.push("'s Domain doesn't match the NetBios nor the DNS format");
  if (user === '') messages.push("'s User cannot be empty");
  else if (Buffer.byteLength(user) > 104)
    messages.push("'s User length must not be longer than 104 characters");
  if (/^[. ]+$/.test(user)) messages.push("'s User cannot contain only periods or spaces");
  if (/["/\\:;|=,+*?<>@[\]]/.test(user))
    messages.push(`'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]`);
  return messages;
}

/** https://kubernetes.io/docs/tasks/configure-pod-container/configure-runasusername/ */
export function windowsOptions(value: unknown, field: Field): void {
  if (!isRecord(value)) return;
  const name = value['gmsaCredentialSpecName'];
  if (typeof name === 'string')
    field.child('gmsaCredentialSpecName').invalidAll(name, validateDns1123Subdomain(name));
  const spec = value['gmsaCredentialSpec'];
  if (typeof spec === 'string') {
    const path = field.child('gmsaCredentialSpec');
    if (spec === '') path.invalid(spec, 'gmsaCredentialSpec cannot be an empty string');
    else if (Buffer.byteLength(spec) > 65_536)
      path.invalid(spec, 'gmsaCredentialSpec size must be under 64 KiB');
  }
  const user = value['runAsUserName'];
  if (typeof user !== 'string') return;
  for (const message of userNameMessages(user)) {
    field
      .child('runAsUserName')
      .invalid(user, `runAsUserName${message.startsWith("'") ? '' : ' '}${message}`);
  }
}

/** HostProcess containers go with each other only, and with the network of the host. */
export function hostProcesses(spec: JsonObject, field: Field): void {
  const ofPod = at(spec, 'securityContext', 'windowsOptions', 'hostProcess');
  let [all, host] = [0, 0];
  eachContainer(spec, field, (container, path) => {
    all++;
    const own = at(container, 'securityContext', 'windowsOptions', 'hostProcess');
    if (ofPod !== undefined && own !== undefined && ofPod !== own) {
      const rule = `pod hostProcess value must be identical if both are specified, was ${ofPod}`;
      path.child('securityContext', 'windowsOptions', 'hostProcess').invalid(own, rule);
    }
    if ((own ?? ofPod) === true) host++;
  });
  if (host === 0) return;
  if (host !== all) {
    const rule =
      'If pod contains any hostProcess containers then all containers must be HostProcess containers';
    field.invalid('', rule);
  }
  if (spec['hostNetwork'] !== true) {
    const rule = 'hostNetwork must be true if pod contains any hostProcess containers';
    field.child('hostNetwork').invalid(false, rule);
  }
}
