// A file on disk, in each container, and what is wrong with containers.

import { createHash, pbkdf2 } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { sdnAdvancedXml, sdnXml, type WorldParty, zipFile } from '../../world/sdn-publication.ts';
import {
  CONTAINER_LIMITS,
  type ContainerLimits,
  readPublication,
  spool,
} from './read-publication.ts';

const derive = promisify(pbkdf2);
const folder = mkdtempSync(join(tmpdir(), 'exhibit-sdn-'));
afterAll(() => rmSync(folder, { recursive: true }));

let files = 0;
function fileOf(bytes: Uint8Array | string): string {
  files += 1;
  const path = join(folder, `${files}.bin`);
  writeFileSync(path, bytes);
  return path;
}
const isKnownForm = (address: string) => address.startsWith('0x');
function read(bytes: Uint8Array | string, limits: ContainerLimits = CONTAINER_LIMITS) {
  return readPublication(fileOf(bytes), { isKnownForm, limits });
}
const sha256 = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

const parties: WorldParty[] = [
  {
    uid: '101',
    type: 'Individual',
    name: { last: 'VANE', first: 'Cordelia' },
    programs: ['CYBER2', 'DPRK3'],
    remarks: 'Made up & "quoted" <here>.',
    listed_on: '2026-01-02',
    addresses: [
      { currency: 'ETH', address: '0xaa' },
      { currency: 'ARB', address: '0xaa' },
      { currency: 'XMR', address: '4literal' },
    ],
  },
  { uid: '102', type: 'Vessel', name: { last: 'TIN GULL' }, programs: ['IRAN'], addresses: [] },
  {
    uid: '103',
    type: 'Entity',
    name: { last: 'GREY HERON LLC' },
    programs: ['SDGT'],
    addresses: [{ currency: 'TRX', address: 'Tliteral' }],
  },
];
const issue = { published: '2026-10-07', parties };
const advanced = sdnAdvancedXml(issue);
const legacy = sdnXml(issue);

describe('says', () => {
  test('what the file holds, with the digest of its bytes and of the document', async () => {
    const archive = zipFile('SDN_ADVANCED.XML', Buffer.from(advanced));
    const publication = await read(archive);
    expect(publication).toMatchObject({
      format: 'sdn_advanced_xml',
      published: '2026-10-07',
      record_count: 3,
      parties: 3,
      distinct_addresses: 3,
      unparsed: 2,
      currencies: { ETH: 1, ARB: 1, XMR: 1, TRX: 1 },
      bytes: archive.byteLength,
      sha256: sha256(archive),
      sha256_xml: sha256(advanced),
    });
    expect(publication).toHaveProperty('addresses.0', {
      address: '0xaa',
      currency: 'ETH',
      entity: 'VANE, Cordelia',
      type: 'Individual',
      programs: ['CYBER2', 'DPRK3'],
      uid: '101',
      remarks: 'Made up & "quoted" <here>.',
      listed_on: '2026-01-02',
      note: null,
    });
  });

  test('each address of a known form inside a longer value, beside the value itself', async () => {
    const EVM = (digit: string) => `0x${digit.repeat(40)}`;
    const known = (address: string) => /^0x[0-9a-f]{40}$/.test(address);
    const printed = [`ETH ${EVM('a')}, ${EVM('b')}`, EVM('a'), 'no address'];
    const addresses = printed.map((address) => ({ currency: 'ETH', address }));
    const one: WorldParty = { ...parties[0], addresses } as WorldParty;
    const path = fileOf(sdnXml({ published: '2026-10-07', parties: [one] }));
    const read = await readPublication(path, { isKnownForm: known, limits: CONTAINER_LIMITS });
    if ('refused' in read) throw new Error(read.reason);
    expect(read.addresses.map(({ address, note }) => [address, note])).toEqual([
      ...printed.map((address) => [address, null]),
      [EVM('b'), expect.stringContaining(`The list prints it inside "ETH ${EVM('a')}, 0xb`)],
    ]);
    expect(read).toMatchObject({ distinct_addresses: 4, unparsed: 2, currencies: { ETH: 4 } });
  });

  test.each([
    ['advanced', advanced],
    ['legacy', legacy],
  ])('the same plain, gzipped and zipped: %s', async (_name, text) => {
    const bytes = Buffer.from(text);
    const plain = await read(bytes);
    const zip = zipFile('x.XML', bytes);
    expect(plain).toMatchObject({ sha256: sha256(bytes), sha256_xml: sha256(bytes) });
    for (const packed of [gzipSync(bytes), zip]) {
      const own = { bytes: packed.byteLength, sha256: sha256(packed) };
      expect(await read(packed)).toEqual({ ...plain, ...own });
    }
  });

  test('any list the writer makes, in both formats, row by row', async () => {
    const word = fc
      .string({ unit: 'grapheme', minLength: 1, maxLength: 20 })
      .map((text) => `N${text.replace(/[\p{C}\p{Z}\p{DI}\uFFFE\uFFFF]/gu, '')}Z`);
    const party = fc.record({
      type: fc.constantFrom('Individual', 'Entity', 'Vessel', 'Aircraft'),
      last: word,
      programs: fc.array(word, { minLength: 1, maxLength: 3 }),
      addresses: fc.array(fc.record({ currency: fc.constantFrom('ETH', 'ZZZ'), address: word }), {
        minLength: 1,
        maxLength: 3,
      }),
    });
    const lists = fc.array(party, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(lists, async (drafts) => {
        const made: WorldParty[] = drafts.map(({ last, ...rest }, at) => {
          return { ...rest, uid: String(500 + at), name: { last } };
        });
        const rows = made.flatMap(({ addresses, uid, type, name, programs }) =>
          addresses.map((row) => ({ ...row, uid, type, entity: name.last, programs })),
        );
        for (const write of [sdnXml, sdnAdvancedXml]) {
          const publication = await read(write({ published: '2026-01-31', parties: made }));
          expect(publication).toMatchObject({ published: '2026-01-31', addresses: rows });
        }
      }),
      { numRuns: 40 },
    );
  });

  test('its progress up to the last byte of the document', async () => {
    let told = 0;
    const onProgress = (bytes: number) => {
      told = bytes;
    };
    const path = fileOf(gzipSync(advanced));
    await readPublication(path, { isKnownForm, limits: CONTAINER_LIMITS, onProgress });
    expect(told).toBe(Buffer.byteLength(advanced));
  });
});

/** An archive with the members of several archives: enough for what a reader looks at. */
function archiveOf(...members: readonly (readonly [string, string])[]): Buffer {
  const single = members.map(([name, text]) => {
    const zip = zipFile(name, Buffer.from(text));
    const start = zip.indexOf('PK\x01\x02');
    const central = Buffer.from(zip.subarray(start, zip.indexOf('PK\x05\x06')));
    return { local: zip.subarray(0, start), central };
  });
  let offset = 0;
  for (const { local, central } of single) {
    central.writeUInt32LE(offset, 42);
    offset += local.byteLength;
  }
  const centrals = Buffer.concat(single.map(({ central }) => central));
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(members.length, 8);
  end.writeUInt16LE(members.length, 10);
  end.writeUInt32LE(centrals.byteLength, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...single.map(({ local }) => local), centrals, end]);
}

describe('refuses', () => {
  test('an archive that holds delimited files, by name', async () => {
    const archive = archiveOf(['SDN.CSV', '36,"A"'], ['ADD.CSV', '36,1']);
    expect(await read(archive)).toMatchObject({ code: 'delimited_file' });
    expect(await read(gzipSync('36,"A",-0- ,"CUBA"\r\n'))).toMatchObject({
      code: 'delimited_file',
    });
  });

  test('an archive with no document or with two; takes one beside other members', async () => {
    expect(await read(archiveOf())).toMatchObject({ code: 'bad_archive' });
    expect(await read(archiveOf(['a.txt', 'x']))).toMatchObject({ code: 'bad_archive' });
    const two = archiveOf(['a.xml', legacy], ['b.xml', legacy]);
    expect(await read(two)).toMatchObject({ code: 'bad_archive' });
    const beside = archiveOf(['readme.txt', 'x'], ['a.xml', legacy]);
    expect(await read(beside)).toMatchObject({ parties: 3 });
  });

  test.each([
    ['zip', zipFile('a.xml', Buffer.from(advanced))],
    ['gzip', gzipSync(advanced)],
  ])('a %s that is cut anywhere', async (_name, packed) => {
    for (const share of [0.05, 0.3, 0.6, 0.9, 0.99]) {
      const cut = packed.subarray(0, Math.floor(packed.byteLength * share));
      expect(await read(cut)).toMatchObject({ refused: true, code: 'truncated' });
    }
    expect(await read(packed.subarray(0, -1))).toMatchObject({ refused: true });
  });

  test('an archive whose document fails its checksum', async () => {
    const zip = zipFile('a.xml', Buffer.from(advanced));
    const central = zip.indexOf('PK\x01\x02');
    zip.writeUInt32LE(1, central + 16);
    expect(await read(zip)).toMatchObject({ code: 'bad_archive' });
  });

  test('a cut or changed file with the day that it states, in either format', async () => {
    for (const text of [legacy, advanced]) {
      const cut = text.slice(0, text.length / 2);
      expect(await read(cut)).toMatchObject({ code: 'truncated', published: '2026-10-07' });
      const changed = text.replaceAll(/(<\/?)(sdnList|Sanctions)(?=[ >])/g, '$1List');
      const refused = { code: 'unknown_root', published: '2026-10-07' };
      expect(await read(gzipSync(changed))).toMatchObject(refused);
    }
    const page = '<html><Publish_Date>13/45/2026</Publish_Date></html>';
    expect(await read(page)).toMatchObject({ code: 'not_xml', published: null });
  });

  test('a damaged archive', async () => {
    for (const packed of [zipFile('a.xml', Buffer.from(advanced)), gzipSync(advanced)]) {
      packed.fill(0xff, 60, 200);
      expect(await read(packed)).toMatchObject({ code: 'bad_archive' });
    }
  });

  test('a file or a document over its cap, whatever the archive says of its size', async () => {
    const small = { deliveredBytesMax: 1_000_000, documentBytesMax: 20_000 };
    const long = Buffer.from(`${legacy}${' '.repeat(50_000)}`);
    const zip = zipFile('a.xml', long);
    const lying = Buffer.from(zip);
    lying.writeUInt32LE(10_000, lying.indexOf('PK\x01\x02') + 24);
    for (const bytes of [long, gzipSync(long), zip]) {
      expect(await read(bytes, small)).toMatchObject({ code: 'too_large' });
    }
    expect(await read(lying, small)).toMatchObject({ code: 'bad_archive' });
    const tiny = { ...CONTAINER_LIMITS, deliveredBytesMax: 100 };
    expect(await read(legacy, tiny)).toMatchObject({ code: 'too_large' });
  });

  test('an empty file, and one that is not there, without rejecting', async () => {
    expect(await read('')).toMatchObject({ code: 'not_xml' });
    const missing = join(folder, 'missing.xml');
    const options = { isKnownForm, limits: CONTAINER_LIMITS };
    expect(await readPublication(missing, options)).toEqual({
      refused: true,
      code: 'unreadable',
      reason: 'the file could not be read: ENOENT',
      published: null,
    });
  });
});

describe('a spooled stream', () => {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('one ');
    yield Buffer.from('two');
  }

  test('is on disk with its size and digest', async () => {
    const path = join(folder, 'spooled');
    expect(await spool(chunks(), path, 7)).toEqual({ bytes: 7, sha256: sha256('one two') });
    expect(await readPublication(path, { isKnownForm, limits: CONTAINER_LIMITS })).toMatchObject({
      code: 'not_xml',
    });
  });

  test('is refused past its cap, and a stream that breaks rejects', async () => {
    expect(await spool(chunks(), join(folder, 'over'), 6)).toMatchObject({ code: 'too_large' });
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('one');
      throw new Error('connection reset');
    }
    await expect(spool(broken(), join(folder, 'broken'), 100)).rejects.toThrow('connection reset');
  });

  test('is done with its file when it is refused: what is removed then stays removed', async () => {
    const path = join(folder, 'removed');
    // Every thread that opens files is busy for a while, as on a machine under load.
    const busy = Promise.all(
      Array.from({ length: 8 }, () => derive('busy', 'threads', 100_000, 32, 'sha256')),
    );
    expect(await spool(chunks(), path, 6)).toMatchObject({ code: 'too_large' });
    rmSync(path, { force: true });
    await busy;
    await stat(folder);
    expect(existsSync(path)).toBe(false);
  });
});
