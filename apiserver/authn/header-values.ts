import type { ApiRequest } from '../../kube/http.ts';

/** What a header says, each time that it came: a group may have a comma in its name. */
export function headerValues({ headers, distinct = {} }: ApiRequest, name: string): string[] {
  return (distinct[name] ?? [headers[name] ?? '']).filter((one) => one !== '');
}
