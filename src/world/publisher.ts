// A stand-in for tests and the simulated world: its real paths, a redirect to an expiring link, its
// refusal of a User-Agent that is no browser's, its validators, and its faults on demand.

import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { WORLD_SEED, worldPublicationAt } from './listed-parties.ts';
import { sdnAdvancedXml, sdnXml, type WorldPublication, zipFile } from './sdn-publication.ts';
import { drip, type StandIn, startStandIn } from './stand-in.ts';

/** The faults that the publisher can be given. */
export const PUBLISHER_FAULTS = [
  'truncated',
  'cut-connection',
  'html',
  'expired-link',
  'forbidden',
  'not-found',
  'error500',
  'empty-list',
  'no-addresses',
  'below-floor',
  'shrunk',
  'undated',
  'older',
  'future',
  'renamed-namespace',
  'renamed-root',
  'enhanced',
  'delimited',
  'slow',
  'hang',
  'redirect-loop',
] as const;
export type PublisherFault = (typeof PUBLISHER_FAULTS)[number];

type PublisherOptions = {
  /** Unix seconds. */
  readonly now: () => number;
  readonly fault: () => PublisherFault | null;
  /** The list to publish; the simulated list of the time unless named. */
  readonly publication?: () => WorldPublication;
};

/** The publisher's real path before the name of a file. */
export const EXPORTS_PATH = '/api/PublicationPreview/exports/';
const DOWNLOAD_PATH = '/api/download/';
const LINK_PATH = '/s3/';
const LINK_TTL_S = 3_600;
const ADDRESSES_BELOW_FLOOR = 120;

const EXPORT_NAMES = ['SDN.XML', 'SDN_XML.ZIP', 'SDN_ADVANCED.XML', 'SDN_ADVANCED.ZIP'] as const;
type ExportName = (typeof EXPORT_NAMES)[number];

/** The part of a server that is the publisher: answers its paths, and says whether it did. */
function publisherPart(options: PublisherOptions): StandIn {
  const documents = documentCache(options);
  return (request, response) => {
    const url = new URL(String(request.url), 'http://publisher.invalid');
    const name = exportNamed(url.pathname);
    if (name === null) return false;
    if (!passesFirewall(request.headers['user-agent'])) return deny(response, 403, 'AccessDenied');
    if (url.pathname.startsWith(LINK_PATH))
      return sendFile(request, response, url, name, options, documents);
    return redirectToLink(response, name, options);
  };
}

/** The publisher's firewall lets through what looks like a browser, since 2026-07-30. */
function passesFirewall(userAgent: string | undefined): boolean {
  return userAgent !== undefined && /^Mozilla\/\d.{31}/.test(userAgent);
}

function exportNamed(path: string): ExportName | null {
  const prefix = [EXPORTS_PATH, DOWNLOAD_PATH, LINK_PATH].find((start) => path.startsWith(start));
  if (prefix === undefined) return null;
  const name = EXPORT_NAMES.find((known) => known === path.slice(prefix.length));
  return name === undefined ? null : name;
}

/** The stable address: it only ever redirects, to a link that expires. */
function redirectToLink(
  response: ServerResponse,
  name: ExportName,
  options: PublisherOptions,
): true {
  const fault = options.fault();
  if (fault === 'hang') return true;
  if (fault === 'error500') return deny(response, 500, 'InternalError');
  if (fault === 'not-found') return deny(response, 404, 'NoSuchKey');
  if (fault === 'forbidden') return deny(response, 403, 'AccessDenied');
  const signed = fault === 'expired-link' ? options.now() - 2 * LINK_TTL_S : options.now();
  const expiry = `X-Amz-Date=${signed}&X-Amz-Expires=${LINK_TTL_S}`;
  const query = `${expiry}&X-Amz-Signature=${signature(name, signed)}`;
  const location = fault === 'redirect-loop' ? EXPORTS_PATH + name : `${LINK_PATH}${name}?${query}`;
  response.writeHead(302, { location, 'content-length': '0' }).end();
  return true;
}

function signature(name: string, signed: number): string {
  return createHash('sha256').update(`${name} ${signed}`).digest('hex');
}

type Document = { readonly bytes: Buffer; readonly etag: string; readonly modified: string };

/** The link: the file while it is valid, as an object store serves it. */
function sendFile(
  request: IncomingMessage,
  response: ServerResponse,
  url: URL,
  name: ExportName,
  options: PublisherOptions,
  documents: (name: ExportName) => Document,
): true {
  const signed = Number(url.searchParams.get('X-Amz-Date'));
  const valid = url.searchParams.get('X-Amz-Signature') === signature(name, signed);
  if (!valid || options.now() > signed + LINK_TTL_S) return deny(response, 403, 'AccessDenied');
  const { bytes, etag, modified } = documents(name);
  const headers = { etag, 'last-modified': modified };
  if (isUnchanged(request, etag, modified)) {
    response.writeHead(304, headers).end();
    return true;
  }
  const fault = options.fault();
  const type =
    fault === 'html' ? 'text/html' : name.endsWith('.ZIP') ? 'application/zip' : 'text/xml';
  response.writeHead(200, { ...headers, 'content-type': type, 'content-length': bytes.byteLength });
  if (fault === 'slow') drip(response, bytes);
  else if (fault === 'cut-connection') {
    response.write(bytes.subarray(0, bytes.byteLength / 2), () => response.destroy());
  } else response.end(bytes);
  return true;
}

function isUnchanged(request: IncomingMessage, etag: string, modified: string): boolean {
  const known = request.headers['if-none-match'];
  if (known !== undefined) return known === etag;
  return request.headers['if-modified-since'] === modified;
}

function deny(response: ServerResponse, status: number, code: string): true {
  const body = `<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>${code}</Code></Error>`;
  response.writeHead(status, { 'content-type': 'application/xml' }).end(body);
  return true;
}

/** Documents are made once for each issue, file and fault. */
function documentCache(options: PublisherOptions): (name: ExportName) => Document {
  let issue = '';
  const made = new Map<string, Document>();
  return (name) => {
    const fault = options.fault();
    const publication =
      options.publication === undefined
        ? worldPublicationAt(options.now(), WORLD_SEED)
        : options.publication();
    const now = JSON.stringify(publication);
    if (now !== issue) made.clear();
    issue = now;
    const key = `${name} ${fault}`;
    const known = made.get(key);
    if (known !== undefined) return known;
    const bytes = bytesOf(name, publication, fault);
    const document = {
      bytes,
      etag: `"${createHash('md5').update(bytes).digest('hex')}"`,
      modified: new Date(`${publication.published}T14:00:00Z`).toUTCString(),
    };
    made.set(key, document);
    return document;
  };
}

function bytesOf(
  name: ExportName,
  publication: WorldPublication,
  fault: PublisherFault | null,
): Buffer {
  const advanced = name.startsWith('SDN_ADVANCED');
  const held = fault === null ? publication : lessen(publication, fault);
  const xml = advanced ? sdnAdvancedXml(held) : sdnXml(held);
  const text = fault === null ? xml : damageFile(xml, fault);
  // A web server's error page and the delimited file come as they are, whatever was asked for.
  const plain = !name.endsWith('.ZIP') || fault === 'html' || fault === 'delimited';
  if (plain) return Buffer.from(text, 'utf8');
  return zipFile(advanced ? 'SDN_ADVANCED.XML' : 'SDN.XML', Buffer.from(text, 'utf8'));
}

/** The faults of what is published. */
function lessen(publication: WorldPublication, fault: PublisherFault): WorldPublication {
  const { published, parties } = publication;
  if (fault === 'empty-list') return { published, parties: [] };
  if (fault === 'older') return { published: '2026-09-24', parties };
  if (fault === 'future') return { published: '2099-12-31', parties };
  if (fault === 'no-addresses') {
    return {
      published,
      parties: parties.map((party) => ({ ...party, addresses: [] })),
    };
  }
  if (fault === 'below-floor')
    return { published, parties: fewest(parties, ADDRESSES_BELOW_FLOOR) };
  if (fault === 'shrunk') {
    const third = (_: unknown, i: number) => i % 3 !== 0;
    return {
      published,
      parties: parties.map((party) => ({ ...party, addresses: party.addresses.filter(third) })),
    };
  }
  return publication;
}

function fewest(parties: WorldPublication['parties'], addresses: number) {
  let left = addresses;
  return parties.map((party) => {
    const kept = party.addresses.slice(0, Math.max(0, left));
    left -= kept.length;
    return { ...party, addresses: kept };
  });
}

const HTML =
  '<!DOCTYPE html>\n<html><head><title>Maintenance</title></head><body>Back soon</body></html>';
const DELIMITED =
  '36,"AEROCARIBBEAN AIRLINES",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- \r\n';

/** The faults of the document. */
function damageFile(xml: string, fault: PublisherFault): string {
  switch (fault) {
    case 'truncated':
      return xml.slice(0, Math.floor(xml.length / 2));
    case 'html':
      return HTML;
    case 'delimited':
      return DELIMITED.repeat(20);
    case 'undated':
      return xml
        .replace(/<Publish_Date>[^<]*<\/Publish_Date>/, '')
        .replace(/<DateOfIssue[\s\S]*?<\/DateOfIssue>/, '');
    case 'renamed-namespace':
      return xml.replace(
        / xmlns="[^"]*"/,
        ' xmlns="https://sanctionslistservice.ofac.treas.gov/v2"',
      );
    case 'renamed-root':
      return xml.replaceAll(/(<\/?)(sdnList|Sanctions)(?=[ >])/g, '$1List');
    case 'enhanced':
      return (
        '<?xml version="1.0" encoding="utf-8"?><sanctionsData xmlns="https://' +
        'sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/ENHANCED_XML">' +
        '<publicationInfo><dataAsOf>2026-11-20T00:00:00</dataAsOf></publicationInfo>' +
        '</sanctionsData>'
      );
    default:
      return xml;
  }
}

type PublisherRequest = {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly status: number;
  readonly bytes: number;
};

/** A stand-in of its own on 127.0.0.1. */
export type StartedPublisher = {
  readonly origin: string;
  /** The address of one of its files, to be configured. */
  readonly url: (name: ExportName) => URL;
  readonly requests: PublisherRequest[];
  readonly fault: (fault: PublisherFault | null) => void;
  readonly publish: (publication: WorldPublication) => void;
  readonly close: () => Promise<void>;
};

const REQUESTS_MAX = 1_000;

/** Starts a stand-in on a free port of 127.0.0.1. */
export async function startPublisher(options: {
  readonly now: () => number;
  readonly publication?: WorldPublication;
}): Promise<StartedPublisher> {
  let fault: PublisherFault | null = null;
  let publication = options.publication;
  const requests: PublisherRequest[] = [];
  const part = publisherPart({
    now: options.now,
    fault: () => fault,
    publication: () =>
      publication === undefined ? worldPublicationAt(options.now(), WORLD_SEED) : publication,
  });
  const { origin, close } = await startStandIn((request, response) => {
    response.once('close', () => {
      const bytes = Number(response.getHeader('content-length'));
      const { statusCode: status } = response;
      const path = String(request.url);
      if (requests.length < REQUESTS_MAX) {
        requests.push({ path, headers: request.headers, status, bytes });
      }
    });
    return part(request, response);
  });
  return {
    origin,
    url: (name) => new URL(EXPORTS_PATH + name, origin),
    requests,
    fault: (next) => {
      fault = next;
    },
    publish: (next) => {
      publication = next;
    },
    close,
  };
}
