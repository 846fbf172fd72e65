// A place is a mirror without a wire: it serves what a test puts there.

import { read, unread } from '../evidence/reading.ts';
import { why } from '../evidence/reasons.ts';
import type {
  Delivery,
  FileRefusal,
  Mirror,
  PublishedList,
  Validators,
} from '../ports/sanctions.ts';

const SOURCE = { name: 'test', url: 'test:', as_of: 0, kind: 'table', simulated: false } as const;
const ORIGIN = { port: 'publisher', source: SOURCE } as const;

/** The contents of a mirror: a list, a file that its reader refuses, or no file. */
type Served = PublishedList | FileRefusal | 'silent' | 'unchanged' | 'later';

/** A refusal by its code; `size`: whether only the size speaks against the file. */
export function refusalAs(code: string, size: boolean): FileRefusal {
  return { refused: true, code, reason: `it is ${code}`, size, published: '2026-11-19' };
}

/** A place that serves what it is told to; the path of its file is its name. */
export function mirrorAt(name: string, kind: Mirror['kind'] = 'http') {
  let now: Served = 'silent';
  const asked: (Validators | null)[] = [];
  const aside: string[] = [];
  const kept: string[] = [];
  let discarded = 0;
  const url = `https://${name}.example`;
  const mirror: Mirror = {
    key: name,
    url,
    kind,
    obtained_at: null,
    deliver: async (known) => {
      asked.push(known);
      if (now === 'silent') {
        const filling = { provider: url, fault: 'answered 503' };
        return unread('publisher', why('provider_failed', filling));
      }
      if (now === 'later') {
        const reason = `${url} failed: answered 503.`;
        return read<Delivery, 'publisher'>({ kind: now, reason, after_s: 900 }, ORIGIN);
      }
      const validators = { etag: `"${name}"`, last_modified: null };
      if (now === 'unchanged')
        return read<Delivery, 'publisher'>({ kind: now, validators }, ORIGIN);
      const file = {
        path: name,
        sha256: 'sha256' in now ? now.sha256 : 'f'.repeat(64),
        bytes: 1,
        keepAside: async (code: string) => {
          aside.push(code);
          return read(`/aside/${name}`, ORIGIN);
        },
        keep: async () => {
          kept.push(name);
          return read(true as const, ORIGIN);
        },
        discard: async () => {
          discarded += 1;
        },
      };
      return read<Delivery, 'publisher'>({ kind: 'file', validators, file }, ORIGIN);
    },
  };
  const serve = (served: Served) => {
    now = served;
  };
  const publicationNow = () => now;
  return { mirror, serve, asked, aside, kept, served: publicationNow, discarded: () => discarded };
}

/** A place, and what was asked and kept of it. */
export type Place = ReturnType<typeof mirrorAt>;
