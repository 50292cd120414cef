/** What ICU knows for Java's sake, and whoever goes by the IANA's files does not. */
const icuAlone =
  /^(ACT|AET|AGT|ART|AST|BET|BST|CAT|CNT|CST|CTT|EAT|ECT|IET|IST|JST|MIT|NET|NST|PLT|PNT|PRT|PST|SST|VST|US\/Pacific-New|SystemV\/.*)$/;

/** No name of the IANA's is of another form; those of links ICU does not tell, and takes in any case. */
const asWritten = /^(?:[A-Z][\w+-]*\/)*[A-Z][\w+-]*$/;
const shouted = /[A-Z]{4}|^[A-Z][a-z]{2}$/;

let canonical: ReadonlyMap<string, string> | undefined;

/** Go reads zones from files, whose names have capitals where they have them. ICU takes a name in any case. */
function isCased(name: string): boolean {
  canonical ??= new Map(Intl.supportedValuesOf('timeZone').map((zone) => [zone.toLowerCase(), zone]));
  const known = canonical.get(name.toLowerCase());
  if (known !== undefined) return known === name;
  return asWritten.test(name) && (!shouted.test(name) || name === 'NZ-CHAT');
}

/** Of a zone of the IANA's, as Go's time.LoadLocation finds it; undefined: there is none of that name. */
export function timeZoneFormat(
  timeZone: string,
  locale: string,
  options: Intl.DateTimeFormatOptions = {},
): Intl.DateTimeFormat | undefined {
  if (icuAlone.test(timeZone) || !isCased(timeZone)) return undefined;
  try {
    return new Intl.DateTimeFormat(locale, { ...options, timeZone });
  } catch {
    return undefined;
  }
}
