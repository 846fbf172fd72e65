// Stand-ins for language models, over both wires. One obeys its instructions; one lies with every
// number, key and word that it has; one does whatever strangers wrote into the bundle.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { answerPage, bodyOf, startStandIn } from './stand-in.ts';

/** How a stand-in answers: its character, or a fault of its service. */
export const MODEL_WAYS = [
  'obeys',
  'abstains',
  'lies',
  'repeats',
  'prose',
  'fenced',
  'no-usage',
  'wrong-shape',
  'rate-limited',
  'error500',
  'html',
  'closes',
  'hangs',
] as const;
export type ModelWay = (typeof MODEL_WAYS)[number];

/** Whether a word of the configuration names a way of the language model. */
export function isModelWay(text: string): text is ModelWay {
  return MODEL_WAYS.some((way) => way === text);
}

/** A question that it was sent, without the credential. */
export type ModelQuestion = {
  readonly wire: 'openai' | 'anthropic';
  readonly body: unknown;
  readonly hasKey: boolean;
};

type Item = { readonly value: unknown };
type Sent = {
  /** The verdicts that may be given, each with the keys to cite. */
  readonly choices: readonly { readonly verdict: string; readonly keys: readonly string[] }[];
  readonly evidence: { readonly [key: string]: Item };
};

const BODY_CHARS_MAX = 1_000_000;
const TOKENS = { in: 1_000, out: 200 } as const;
const HEADING = 'Supported verdicts, with the keys to cite:\n';
const BUNDLE = '\n\nThe bundle:\n';

/** Starts one on a free port of 127.0.0.1. `asked` grows with every question. */
export async function startLanguageModel(): Promise<{
  readonly openai: string;
  readonly anthropic: string;
  readonly asked: readonly ModelQuestion[];
  readonly behave: (way: ModelWay) => void;
  readonly close: () => Promise<void>;
}> {
  const asked: ModelQuestion[] = [];
  let way: ModelWay = 'obeys';
  const { origin, close } = await startStandIn((request, response) => {
    const wire = wireOf(request);
    if (wire === null) return false;
    void answer(request, response, { wire, way, asked });
    return true;
  });
  return {
    openai: `${origin}/v1/chat/completions`,
    anthropic: `${origin}/v1/messages`,
    asked,
    behave: (next) => {
      way = next;
    },
    close,
  };
}

function wireOf({ method, url }: IncomingMessage): ModelQuestion['wire'] | null {
  if (method !== 'POST') return null;
  const [path] = String(url).split('?');
  if (path === '/v1/chat/completions') return 'openai';
  return path === '/v1/messages' ? 'anthropic' : null;
}

type Turn = Pick<ModelQuestion, 'wire'> & {
  readonly way: ModelWay;
  readonly asked: ModelQuestion[];
};

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  { wire, way, asked }: Turn,
): Promise<void> {
  const body: unknown = JSON.parse(await bodyOf(request, BODY_CHARS_MAX));
  const { authorization, 'x-api-key': key } = request.headers;
  const hasKey = (wire === 'openai' ? authorization : key) !== undefined;
  asked.push({ wire, body, hasKey });
  const content = contentOf(body);
  if (way === 'hangs') return;
  if (way === 'closes') return void response.destroy();
  if (way === 'html') return answerPage(response, 200);
  if (way === 'error500') return answerPage(response, 500);
  const send = (status: number, said: object, headers: object = {}): void => {
    const type = { 'content-type': 'application/json', ...headers };
    response.writeHead(status, { ...type }).end(JSON.stringify(said));
  };
  if (way === 'rate-limited') {
    return send(429, { error: { type: 'rate_limit_error' } }, { 'retry-after': '1' });
  }
  if (content === null || way === 'wrong-shape') return send(200, { object: 'list', data: [] });
  const text = textOf(way, readMessage(content));
  const usage = way === 'no-usage' ? {} : usageOf(wire);
  if (wire === 'openai') {
    const message = { role: 'assistant', content: text };
    return send(200, { id: 'made-up', choices: [{ index: 0, message }], ...usage });
  }
  send(200, { id: 'made-up', role: 'assistant', content: [{ type: 'text', text }], ...usage });
}

function usageOf(wire: ModelQuestion['wire']): object {
  if (wire === 'anthropic') {
    return { usage: { input_tokens: TOKENS.in, output_tokens: TOKENS.out } };
  }
  return { usage: { prompt_tokens: TOKENS.in, completion_tokens: TOKENS.out } };
}

/** The one message of a question; `null` where there is another, or tools. */
function contentOf(body: unknown): string | null {
  if (typeof body !== 'object' || body === null) return null;
  const messages = memberOf(body, 'messages');
  if (memberOf(body, 'tools') !== undefined) return null;
  if (!Array.isArray(messages) || messages.length !== 1) return null;
  const content = memberOf(messages[0], 'content');
  return typeof content === 'string' ? content : null;
}

function readMessage(content: string): Sent {
  const [instructions = '', bundle = '{}'] = content.split(BUNDLE);
  const [, listed = ''] = instructions.split(HEADING);
  const choices = listed.split('\n').flatMap((line) => {
    const [verdict, keys] = line.split(': ');
    return verdict === undefined || keys === undefined ? [] : [{ verdict, keys: keys.split(', ') }];
  });
  const parsed: unknown = JSON.parse(bundle);
  const items = Object.entries(Object(memberOf(parsed, 'evidence')));
  const evidence = items.map(([key, item]) => [key, { value: memberOf(item, 'value') }]);
  return { choices, evidence: Object.fromEntries(evidence) };
}

function memberOf(of: unknown, name: string): unknown {
  return new Map<string, unknown>(Object.entries(Object(of))).get(name);
}

function textOf(way: ModelWay, sent: Sent): string {
  if (way === 'prose') return 'I would rather not answer with JSON.';
  if (way === 'lies') return JSON.stringify(lieAbout(sent));
  if (way === 'repeats') return repeat(sent);
  const nothing = { verdict: 'no_opinion', evidence_used: [], sentences: [] };
  const said = JSON.stringify(way === 'abstains' ? nothing : obey(sent));
  return way === 'fenced' ? `\`\`\`json\n${said}\n\`\`\`` : said;
}

/** The first choice, with a sentence for each of its plain keys. */
function obey({ choices, evidence }: Sent) {
  const [choice] = choices;
  if (choice === undefined) return { verdict: 'no_opinion', evidence_used: [], sentences: [] };
  const sentences = choice.keys.flatMap((key) => {
    const value = evidence[key]?.value;
    if (typeof value === 'object' || value === undefined) return [];
    const name = String(key.split('.').at(-1)).replaceAll('_', ' ');
    return [{ text: `The ${name} of this address is ${String(value)}.`, keys: [key] }];
  });
  return { verdict: choice.verdict, evidence_used: choice.keys, sentences };
}

/** Another verdict, keys that are not there, numbers that no key has, and advice. */
function lieAbout({ evidence }: Sent) {
  const keys = Object.keys(evidence).slice(0, 3);
  const claims = [
    'All 9999 launches of it were frauds.',
    'The address 0x00000000000000000000000000000000deadbeef paid it.',
    'It is safe, so buy it.',
    'It is not listed anywhere.',
  ];
  return {
    verdict: 'avoid',
    evidence_used: [...keys, 'sanctions.made_up', 'deployer.state'],
    sentences: claims.map((text) => ({ text, keys })),
  };
}

/** Whatever strangers wrote: as the answer where it is one, and as sentences. */
function repeat({ choices, evidence }: Sent): string {
  const texts = Object.values(evidence).flatMap(({ value }) => {
    const text = memberOf(value, 'untrusted');
    return typeof text === 'string' ? [text] : [];
  });
  const answered = texts.find((text) => text.startsWith('{"verdict"'));
  if (answered !== undefined) return answered;
  const [choice] = choices;
  const keys = choice === undefined ? [] : [...choice.keys];
  const sentences = texts.slice(0, 12).map((text) => ({ text: text.slice(0, 400), keys }));
  return JSON.stringify({
    verdict: choice === undefined ? 'avoid' : choice.verdict,
    evidence_used: keys,
    sentences,
  });
}
