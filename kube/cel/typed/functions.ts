import { type CelType, readType, splitArguments } from './types.ts';

/** One way of calling a function; a member's first argument is what it is called on. */
export interface Overload {
  member: boolean;
  args: readonly CelType[];
  result: CelType;
}

/**
 * The functions of CEL and of Kubernetes' libraries: names, then overloads, `receiver.(arguments) result`. A line that
 * is indented continues the one before. https://kubernetes.io/docs/reference/using-api/cel/
 */
const declared = `
!_ @not_strictly_false: (bool) bool
-_: (double) double | (int) int
@in: (A, list(A)) bool | (A, map(A, B)) bool
@sortByAssociatedKeys: list(T).(list(int)) list(T) | list(T).(list(uint)) list(T) | list(T).(list(double))
  list(T) | list(T).(list(bool)) list(T) | list(T).(list(duration)) list(T) | list(T).(list(timestamp)) list(T)
  | list(T).(list(string)) list(T) | list(T).(list(bytes)) list(T)
_!=_ _==_: (A, A) bool
_%_: (int, int) int | (uint, uint) uint
_&&_ _||_: (bool, bool) bool
_*_ _/_: (double, double) double | (int, int) int | (uint, uint) uint
_+_: (bytes, bytes) bytes | (double, double) double | (duration, duration) duration | (duration, timestamp)
  timestamp | (timestamp, duration) timestamp | (int, int) int | (list(A), list(A)) list(A) | (string, string)
  string | (uint, uint) uint
_-_: (double, double) double | (duration, duration) duration | (int, int) int | (timestamp, duration) timestamp
  | (timestamp, timestamp) duration | (uint, uint) uint
_<=_ _<_ _>=_ _>_: (bool, bool) bool | (int, int) bool | (int, double) bool | (int, uint) bool | (uint, uint)
  bool | (uint, double) bool | (uint, int) bool | (double, double) bool | (double, int) bool | (double, uint)
  bool | (string, string) bool | (bytes, bytes) bool | (timestamp, timestamp) bool | (duration, duration) bool
_?._: (dyn, string) optional_type(V)
_?_:_: (bool, A, A) A
_[?_]: (list(V), int) optional_type(V) | (optional_type(list(V)), int) optional_type(V) | (map(K, V), K)
  optional_type(V) | (optional_type(map(K, V)), K) optional_type(V)
_[_]: (list(A), int) A | (map(A, B), A) B | (optional_type(list(V)), int) optional_type(V) |
  (optional_type(map(K, V)), K) optional_type(V)
add sub: kubernetes.Quantity.(kubernetes.Quantity) kubernetes.Quantity | kubernetes.Quantity.(int)
  kubernetes.Quantity
allowed errored: authorization.Decision.() bool
asApproximateFloat: kubernetes.Quantity.() double
asInteger: kubernetes.Quantity.() int
bool: (bool) bool | (string) bool
bytes: (bytes) bytes | (string) bytes
cel.@mapInsert: (map(K, V), K, V) map(K, V) | (map(K, V), map(K, V)) map(K, V)
charAt: string.(int) string
check: authorization.PathCheck.(string) authorization.Decision | authorization.ResourceCheck.(string)
  authorization.Decision
cidr: (string) net.CIDR
compareTo: kubernetes.Quantity.(kubernetes.Quantity) int | kubernetes.Semver.(kubernetes.Semver) int
contains endsWith startsWith: string.(string) bool
containsCIDR: net.CIDR.(string) bool | net.CIDR.(net.CIDR) bool
containsIP: net.CIDR.(string) bool | net.CIDR.(net.IP) bool
distinct reverse: list(T).() list(T)
double: (double) double | (int) double | (string) double | (uint) double
duration: (duration) duration | (int) duration | (string) duration
dyn: (A) dyn
error reason: authorization.Decision.() string
family: net.IP.() int
fieldSelector labelSelector name namespace subresource: authorization.ResourceCheck.(string)
  authorization.ResourceCheck
find: string.(string) string
findAll split: string.(string) list(string) | string.(string, int) list(string)
first last: list(V).() optional_type(V)
flatten: list(list(T)).() list(T) | list(dyn).(int) list(dyn)
format: string.(list(dyn)) string
format.byte format.date format.datetime format.dns1035Label format.dns1035LabelPrefix format.dns1123Label
  format.dns1123LabelPrefix format.dns1123Subdomain format.dns1123SubdomainPrefix format.labelValue
  format.qualifiedName format.uri format.uuid: () kubernetes.NamedFormat
format.named: (string) optional_type(kubernetes.NamedFormat)
getDate getDayOfMonth getDayOfWeek getDayOfYear getFullYear getMonth: timestamp.() int | timestamp.(string) int
getEscapedPath getHost getHostname getPort getScheme: kubernetes.URL.() string
getHours getMilliseconds getMinutes getSeconds: timestamp.() int | timestamp.(string) int | duration.() int
getQuery: kubernetes.URL.() map(string, list(string))
group: authorization.Authorizer.(string) authorization.GroupCheck
hasValue: optional_type(V).() bool
indexOf lastIndexOf: list(A).(A) int | string.(string) int | string.(string, int) int
int: (int) int | (double) int | (duration) int | (string) int | (timestamp) int | (uint) int
ip: (string) net.IP | net.CIDR.() net.IP
ip.isCanonical isCIDR isIP isQuantity isURL: (string) bool
isGlobalUnicast isLinkLocalMulticast isLinkLocalUnicast isLoopback isUnspecified: net.IP.() bool
isGreaterThan isLessThan: kubernetes.Quantity.(kubernetes.Quantity) bool | kubernetes.Semver.(kubernetes.Semver)
  bool
isInteger: kubernetes.Quantity.() bool
isSemver: (string) bool | (string, bool) bool
isSorted: list(int).() bool | list(uint).() bool | list(double).() bool | list(bool).() bool | list(duration).()
  bool | list(timestamp).() bool | list(string).() bool | list(bytes).() bool
join: list(string).() string | list(string).(string) string
lists.range: (int) list(int)
lowerAscii trim upperAscii: string.() string
major minor patch: kubernetes.Semver.() int
masked: net.CIDR.() net.CIDR
matches: (string, string) bool | string.(string) bool
max min: list(int).() int | list(uint).() uint | list(double).() double | list(bool).() bool | list(duration).()
  duration | list(timestamp).() timestamp | list(string).() string | list(bytes).() bytes
optional.none: () optional_type(V)
optional.of optional.ofNonZeroValue: (V) optional_type(V)
optional.unwrap: (list(optional_type(V))) list(V)
or: optional_type(V).(optional_type(V)) optional_type(V)
orValue: optional_type(V).(V) V
path: authorization.Authorizer.(string) authorization.PathCheck
prefixLength: net.CIDR.() int
quantity: (string) kubernetes.Quantity
replace: string.(string, string) string | string.(string, string, int) string
resource: authorization.GroupCheck.(string) authorization.ResourceCheck
semver: (string) kubernetes.Semver | (string, bool) kubernetes.Semver
serviceAccount: authorization.Authorizer.(string, string) authorization.Authorizer
sets.contains sets.equivalent sets.intersects: (list(T), list(T)) bool
sign: (kubernetes.Quantity) int
size: (bytes) int | bytes.() int | (list(A)) int | list(A).() int | (map(A, B)) int | map(A, B).() int |
  (string) int | string.() int
slice: list(T).(int, int) list(T)
sort: list(int).() list(int) | list(uint).() list(uint) | list(double).() list(double) | list(bool).()
  list(bool) | list(duration).() list(duration) | list(timestamp).() list(timestamp) | list(string).()
  list(string) | list(bytes).() list(bytes)
string: (string) string | (bool) string | (bytes) string | (double) string | (duration) string | (int) string |
  (timestamp) string | (uint) string | (net.IP) string | (net.CIDR) string
strings.quote: (string) string
substring: string.(int) string | string.(int, int) string
sum: list(int).() int | list(uint).() uint | list(double).() double | list(duration).() duration
timestamp: (timestamp) timestamp | (int) timestamp | (string) timestamp
type: (A) type(A)
uint: (uint) uint | (double) uint | (int) uint | (string) uint
unwrapOpt: list(optional_type(V)).() list(V)
url: (string) kubernetes.URL
validate: kubernetes.NamedFormat.(string) optional_type(list(string))
value: optional_type(V).() V
`;

export function overload(text: string): Overload {
  const open = text.search(/(^|\.)\(/);
  const receiver = text.slice(0, Math.max(open, 0));
  const rest = text.slice(text.indexOf('(', Math.max(open, 0)));
  const close = closing(rest);
  const args = splitArguments(rest.slice(1, close)).map((one) => readType(full(one)));
  const member = receiver !== '';
  return {
    member,
    args: member ? [readType(full(receiver)), ...args] : args,
    result: readType(full(rest.slice(close + 1))),
  };
}

const full = (text: string) => text.trim().replace(/^authorization\./, 'kubernetes.$&');

function closing(text: string): number {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '(') depth++;
    if (text[at] === ')' && --depth === 0) return at;
  }
  throw new Error(`no function: ${text}`);
}

function read(): Map<string, readonly Overload[]> {
  const found = new Map<string, readonly Overload[]>();
  for (const line of declared.replaceAll('\n  ', ' ').trim().split('\n')) {
    const [, names = '', overloads = ''] = /^(.*?): (.*)$/.exec(line) ?? [];
    const list = overloads.split(' | ').map(overload);
    for (const name of names.split(' ')) found.set(name, list);
  }
  return found;
}

let functions: Map<string, readonly Overload[]> | undefined;

export function overloadsOf(name: string): readonly Overload[] | undefined {
  functions ??= read();
  return functions.get(name);
}
