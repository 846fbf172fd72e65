// Requests from a seed to the routes of a served document, and whether each answer is as its
// declaration says: asked of a service by whoever can ask it.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { z } from 'zod';
import {
  answerPointer,
  type JsonSchema,
  type OpenapiDocument,
  type Operation,
} from './contract/openapi.ts';
import { tally } from './evidence/measure.ts';
import { type GeneratedRequest, generateRequest } from './testing/generated-requests.ts';
import type { Lottery } from './testing/lottery.ts';

/** An operation of the document and where it stands there. */
type Placed = { readonly path: string; readonly method: string; readonly operation: Operation };

/** A request and the operation that it was drawn from. */
export type SentRequest = Placed & { readonly request: GeneratedRequest };

/** What came. `unsigned`: the fault of the signature that was asked for, `null` where none is. */
export type TakenAnswer = {
  readonly status: number;
  readonly type: string | null;
  readonly text: string;
  readonly isHosted: boolean;
  readonly unsigned: string | null;
};

/** What was asked and answered. */
export type GeneratedFindings = {
  readonly faults: readonly object[];
  readonly statuses: ReadonlyMap<number, number>;
  readonly asked: number;
  readonly hosted: number;
};

/** Words of a validator that nobody here wrote. */
const FOREIGN =
  /Invalid (input|option|string)|Too (big|small)|received |ZodError|must match pattern/;
const FAULTS_MAX = 20;
const SERVER_FAULT = 500;
const UNAVAILABLE = 503;
const REFUSED = 400;

const isStream = ({ path }: Placed) => path.startsWith('/ws/') || path.startsWith('/sse/');

/** What answers. `isWhole`: nothing of it is down, so that no answer may say so. */
type Expected = { readonly isWhole: boolean };

/** Asks every operation of a document in turn, and judges what came. */
export function generatedTraffic(document: OpenapiDocument, service: Expected) {
  const places = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    )
    .filter((one) => !isStream(one));
  const schemas = new Map(
    Object.entries(
      z.record(z.string(), z.custom<JsonSchema>()).parse(document.components['schemas']),
    ).map(([name, schema]) => [`#/components/schemas/${name}`, schema] as const),
  );
  const judge = judgeBy(document, service);
  return async ({ requests, together, addresses, lottery, ask }: Traffic) => {
    const pools = { addresses, schemas };
    const faults: object[] = [];
    const statuses = new Map<number, number>();
    let asked = 0;
    let hosted = 0;
    const draw = (): SentRequest => {
      const place = places[asked % places.length];
      if (place === undefined) throw new Error('the document has no route');
      asked += 1;
      return { ...place, request: generateRequest(place.path, place.operation, pools, lottery) };
    };
    const work = async () => {
      while (asked < requests) {
        const sent = draw();
        const answer = await ask(sent);
        if (answer.isHosted) hosted += 1;
        tally(statuses, answer.status);
        const fault = judge(sent, answer);
        if (fault !== null && faults.length < FAULTS_MAX) {
          faults.push({ ...sent.request, of: sent.operation.operationId, fault });
        }
      }
    };
    await Promise.all(Array.from({ length: together }, work));
    return { faults, statuses, asked, hosted } satisfies GeneratedFindings;
  };
}

/** How much is asked, by so many at once, about whom, and how. */
type Traffic = {
  readonly requests: number;
  readonly together: number;
  readonly addresses: readonly string[];
  readonly lottery: Lottery;
  readonly ask: (sent: SentRequest) => Promise<TakenAnswer>;
};

function judgeBy(document: OpenapiDocument, { isWhole }: Expected) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'doc:');
  const held = new Map<string, ValidateFunction>();
  return ({ path, method, operation }: SentRequest, answer: TakenAnswer): string | null => {
    const { status, type, text, unsigned } = answer;
    if (unsigned !== null) return `${status}, whose signature: ${unsigned}`;
    const { operationId, responses } = operation;
    if (status >= SERVER_FAULT && (isWhole || status !== UNAVAILABLE)) return `a fault, ${text}`;
    const declared = responses[status];
    if (declared === undefined) return `${status} is not declared`;
    if (status >= REFUSED && FOREIGN.test(text)) return `words of a validator: ${text}`;
    if (declared.content === undefined) return text === '' ? null : 'a body is not declared';
    if (!(String(type) in declared.content)) {
      const [json] = Object.keys(declared.content).filter((one) => one === 'application/json');
      if (json === undefined || !String(type).startsWith(json)) return `${type} is not declared`;
    } else if (!String(type).startsWith('application/json')) return null;
    const key = `${operationId} ${status}`;
    const pointer = `doc:#${answerPointer({ path, method }, status)}`;
    const validate = held.get(key) ?? ajv.compile({ $ref: pointer });
    held.set(key, validate);
    const said: unknown = JSON.parse(text);
    return validate(said) ? null : JSON.stringify(validate.errors).slice(0, 500);
  };
}
