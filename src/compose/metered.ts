// Counts how often each port was read to its end, in part, or not at all. It wraps a port and
// changes nothing of what the port says.

import { Part, Read } from '../evidence/reading.ts';

/** Told of each reading, by port and outcome. */
export type CountReading = (port: string, outcome: 'read' | 'part' | 'unread') => void;

type Methods = { readonly [method: string]: unknown };

/** The same port, each of whose readings is counted. */
export function meterPort<P extends object>(name: string, port: P, count: CountReading): P {
  const wrapped = Object.entries(port as Methods).map(([method, f]) => [
    method,
    typeof f === 'function' ? countedMethod(name, f.bind(port), count) : f,
  ]);
  return Object.fromEntries(wrapped) as P;
}

function countedMethod(
  name: string,
  method: (...given: unknown[]) => unknown,
  count: CountReading,
): (...given: unknown[]) => unknown {
  return (...given) => {
    const said = method(...given);
    if (!(said instanceof Promise)) return said;
    return said.then((reading: unknown) => {
      const readings = readingsIn(reading);
      for (const one of readings) count(name, outcomeOf(one));
      return reading;
    });
  };
}

/** The readings of an answer: one, those of a map, or those of a record by name. */
function readingsIn(answer: unknown): unknown[] {
  if (answer instanceof Map) return [...answer.values()];
  const isRecord = typeof answer === 'object' && answer?.constructor === Object;
  return isRecord ? Object.values(answer) : [answer];
}

function outcomeOf(reading: unknown): 'read' | 'part' | 'unread' {
  if (reading instanceof Read) return 'read';
  return reading instanceof Part ? 'part' : 'unread';
}
