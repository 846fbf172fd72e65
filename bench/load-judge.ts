// Whether an answer is one that /openapi.json declares: a refusal by its status and its body, of a
// page or of the tools by a status of the table of refusals.

import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { answerPointer, type OpenapiDocument } from '../src/contract/openapi.ts';
import { REFUSALS } from '../src/contract/refusals.ts';
import type { MixKind } from './load-mix.ts';

/** Refusals of one status and reason of one route. */
export type Refused = {
  readonly route: string;
  readonly status: number;
  readonly reason: string;
  readonly count: number;
};

type Answer = { readonly status: number; readonly type: string; readonly body: string };

const REFUSED_FROM = 400;
const NAMED_MAX = 20;
const REASON_CHARS_MAX = 70;
const FOUND_CHARS_MAX = 300;
/** What the answer rests on is told beside 200. */
const STATE = /^\{"state":"(\w+)"/;
const OF_PAGES = new Set<number>(Object.values(REFUSALS).map(({ status }) => status));

/** Makes the judge of the answers that a document declares. */
export function answerJudge(document: OpenapiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false }).addSchema(document, 'doc:');
  const compiled = new Map<string, ValidateFunction>();

  const undeclaredIn = (kind: MixKind, { status, type, body }: Answer): string | null => {
    if (kind.declared === null) return OF_PAGES.has(status) ? null : `${status} of no table`;
    const { method, path } = kind.declared;
    const operation = document.paths[path]?.[method.toLowerCase()];
    if (operation?.responses[status] === undefined) return `${status} is not declared`;
    if (!type.startsWith('application/json')) return `${status} as ${type}`;
    const pointer = `doc:#${answerPointer({ path, method }, status)}`;
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: pointer });
    compiled.set(pointer, validate);
    const said: unknown = JSON.parse(body);
    return validate(said) ? null : `${status}: ${JSON.stringify(validate.errors)}`;
  };

  const begin = () => {
    const refused = new Map<string, { refused: Refused; count: number }>();
    const undeclared: string[] = [];
    const look = (kind: MixKind, answer: Answer): string => {
      const { status, body } = answer;
      if (status < REFUSED_FROM) {
        const state = STATE.exec(body)?.[1];
        return state === undefined || state === 'ok' ? String(status) : `${status} ${state}`;
      }
      const reason = reasonIn(answer);
      const name = `${status} ${reason} ${kind.name}`;
      const known = refused.get(name) ?? {
        refused: { route: kind.name, status, reason, count: 0 },
        count: 0,
      };
      known.count += 1;
      refused.set(name, known);
      const why = undeclaredIn(kind, answer);
      if (why !== null && undeclared.length < NAMED_MAX) {
        undeclared.push(`${kind.name}: ${why}: ${body.slice(0, FOUND_CHARS_MAX)}`);
      }
      return String(status);
    };
    const found = () => ({
      refused: [...refused.values()].map(({ refused: one, count }) => ({ ...one, count })),
      undeclared,
    });
    return { look, found };
  };
  return { begin };
}

function reasonIn({ type, body }: Answer): string {
  if (!type.startsWith('application/json')) return type.split(';')[0] ?? '';
  const told: unknown = JSON.parse(body);
  const { reason, error } = Object(told);
  const text = typeof reason === 'string' ? reason : typeof error === 'string' ? error : body;
  return text.replaceAll(/\d+/g, 'N').slice(0, REASON_CHARS_MAX);
}
