// Answers one question: at which places do two answers differ?

/** Two values that JSON can say, taken apart side by side. */
type Side = unknown;

/** More places than this are not named. */
const PLACES_MAX = 50;

/** The places at which two texts of JSON differ, as paths: `data.proximity.found`. */
export function differingPlaces(one: string, other: string): string[] {
  const places: string[] = [];
  compare(parsed(one), parsed(other), '', places);
  return places.slice(0, PLACES_MAX);
}

function parsed(text: string): Side {
  const value: unknown = JSON.parse(text);
  return value;
}

function compare(one: Side, other: Side, at: string, places: string[]): void {
  if (Object.is(one, other)) return;
  if (!isHolder(one) || !isHolder(other) || Array.isArray(one) !== Array.isArray(other)) {
    places.push(at);
    return;
  }
  for (const key of new Set([...Object.keys(one), ...Object.keys(other)])) {
    const place = Array.isArray(one) ? `${at}[${key}]` : at === '' ? key : `${at}.${key}`;
    compare(Reflect.get(one, key), Reflect.get(other, key), place, places);
  }
}

function isHolder(value: Side): value is object {
  return typeof value === 'object' && value !== null;
}
