/** Builtins that are best said in jq itself, by name and number of arguments; compiled when first used. */
export const PRELUDE: Readonly<Record<string, string>> = {
  'IN/2': 'def IN(source; wanted): any(source == wanted; .);',
  'INDEX/1': 'def INDEX(key): INDEX(.[]; key);',
  'INDEX/2': 'def INDEX(rows; key): reduce rows as $row ({}; .[$row | key | tostring] = $row);',
  'JOIN/2': 'def JOIN($index; key): [.[] | [., $index[key]]];',
  'JOIN/3': 'def JOIN($index; rows; key): rows | [., $index[key]];',
  'JOIN/4': 'def JOIN($index; rows; key; merge): rows | [., $index[key]] | merge;',
  'ascii/0': 'def ascii: [.] | implode;',
  'combinations/0': 'def combinations: if length == 0 then [] else .[0][] as $head | (.[1:] | combinations) as $tail | [$head] + $tail end;',
  'combinations/1': 'def combinations($times): . as $items | [range($times) | $items] | combinations;',
  'truncate_stream/1': `def truncate_stream(events): . as $depth | null | events
    | if (.[0] | length) > $depth then .[0] |= .[$depth:] else empty end;`,
  'todate/0': 'def todate: strftime("%Y-%m-%dT%H:%M:%SZ");',
  'fromdate/0': 'def fromdate: fromdateiso8601;',
  'fromdateiso8601/0': 'def fromdateiso8601: strptime("%Y-%m-%dT%H:%M:%SZ") | mktime;',
  'todateiso8601/0': 'def todateiso8601: strftime("%Y-%m-%dT%H:%M:%SZ");',
  'date/0': 'def date: todate;',
  'dateadd/2': 'def dateadd(unit; amount): . + amount;',
  'datesub/2': 'def datesub(unit; amount): . - amount;',
}
