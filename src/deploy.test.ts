// Do the image and the composition name only what is there, and does no secret have a default?
// There is no container engine in the suite: the files are read, and the health check is run.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { z } from 'zod';
import { HELP_GROUPS } from './compose/commands.ts';
import { listGauges } from './compose/list-gauges.ts';
import { storeGauges } from './compose/store-gauges.ts';
import { SETTINGS } from './config/settings.ts';
import { parseConfig } from './config.ts';
import { openPostgres } from './stores/control/engine/postgres.ts';
import { codeUnder } from './testing/tidy-source.ts';
import { createMeters } from './transport/metrics.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const text = (path: string) => readFileSync(ROOT + path, 'utf8');

type Instruction = { readonly word: string; readonly rest: string };

/** The instructions of a Dockerfile, comments gone and continued lines joined. */
const instructions: readonly Instruction[] = text('deploy/Dockerfile')
  .replaceAll(/^#.*\n/gm, '')
  .replaceAll(/\\\n\s*/g, '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => ({ word: line.replace(/ .*/, ''), rest: line.replace(/^\S+ /, '') }));
const given = (word: string) =>
  instructions.filter((one) => one.word === word).map((one) => one.rest);
const lastStage = instructions.slice(instructions.findLastIndex(({ word }) => word === 'FROM'));
const inLast = (word: string) => lastStage.find((one) => one.word === word)?.rest;
const words = z.array(z.string());
const listIn = (json: string | undefined) => words.parse(JSON.parse(String(json)));
const ENV = Object.fromEntries(given('ENV').flatMap((line) => pairsOf(line.split(' '))));

function pairsOf(items: readonly string[]): [string, string][] {
  return items.map((one) => [one.replace(/=.*/, ''), one.replace(/^[^=]*=/, '')]);
}

const service = z.object({
  image: z.string(),
  command: words.optional(),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: words.default([]),
  ports: words.optional(),
  healthcheck: z
    .union([z.object({ disable: z.literal(true) }), z.object({ test: words })])
    .optional(),
  user: z.undefined().optional(),
});
const composed = z
  .object({ services: z.record(z.string(), service), volumes: z.record(z.string(), z.null()) })
  .parse(parse(text('deploy/compose.yaml'), { merge: true }));
const own = Object.entries(composed.services).filter(([, { image }]) => image === 'exhibit');

/** The placeholder of a mandatory variable. */
const GIVEN = /\$\{([A-Z_]+):\?([^}]+)\}/g;
const filled = (value: string) => value.replaceAll(GIVEN, (_, name) => `given-${name}-1234`);

test('every setting that is named exists, and every service starts with the ones it is given', () => {
  const files = [text('deploy/Dockerfile'), text('deploy/compose.yaml')];
  const named = files.flatMap((file) => file.match(/EXHIBIT_[A-Z_]+/g) ?? []);
  expect(named.length).toBeGreaterThan(6);
  expect(named.filter((name) => !(name in SETTINGS))).toEqual([]);
  expect(own.map(([name]) => name)).toEqual(['migrate', 'serve', 'work']);
  for (const [, { environment }] of own) {
    const all = { ...ENV, ...environment };
    const env = Object.fromEntries(Object.entries(all).map(([name, of]) => [name, filled(of)]));
    const { NODE_ENV: _, ...settings } = env;
    const configured = parseConfig(settings, { cwd: '/app' });
    expect(configured).toMatchObject({
      ok: true,
      config: {
        listen: { host: '0.0.0.0', port: 8080 },
        dataDir: '/data',
        store: { kind: 'postgres' },
        warehouse: { kind: 'clickhouse' },
        secret: { kind: 'given' },
        simulate: false,
      },
    });
  }
});

/** What a test needs of an object of the cluster; the rest is the cluster's. */
const container = z.looseObject({
  args: words,
  env: z.array(z.object({ name: z.string(), value: z.string() })).default([]),
  envFrom: z.array(z.object({ secretRef: z.object({ name: z.string() }) })),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string() })),
});
const probe = z.looseObject({ httpGet: z.object({ path: z.string(), port: z.literal('http') }) });
const podOf = (one: unknown) => Object(one).spec.template.spec;

test('the cluster runs commands that exist, under settings that exist, probed where they serve', () => {
  const cluster = text('deploy/kubernetes.yaml');
  const objects = parseAllDocuments(cluster).map((one): unknown => one.toJS());
  const kinds = objects.map((one) => `${Object(one).kind} ${Object(one).metadata.name}`);
  expect(kinds).toEqual([
    ...['Job exhibit-migrate', 'Deployment exhibit-serve', 'Deployment exhibit-work'],
    ...['PodDisruptionBudget exhibit-serve', 'Service exhibit'],
  ]);
  const named = cluster.match(/EXHIBIT_[A-Z_]+/g) ?? [];
  expect(named).toContain('EXHIBIT_DRAIN');
  expect(named.filter((name) => !(name in SETTINGS))).toEqual([]);
  const commands = HELP_GROUPS.flatMap((group) => group.commands.map(({ name }) => name));
  const [job, serve, work, budget, front] = objects;
  const secrets: string[][] = [];
  for (const one of [job, serve, work]) {
    const run = container.parse(podOf(one).containers[0]);
    expect(commands).toContain(run.args.join(' '));
    secrets.push(run.envFrom.map(({ secretRef }) => secretRef.name));
    expect(run.volumeMounts.map(({ mountPath }) => mountPath)).toEqual([inLast('VOLUME')]);
    const hidden = run.env.filter(({ name }) => isHidden(name));
    expect(hidden).toEqual([]);
  }
  // Each process has the stores' addresses under a role of its own.
  const roles = ['exhibit-owner', 'exhibit-serve', 'exhibit-work'];
  expect(secrets).toEqual(roles.map((name) => ['exhibit', name]));
  const served = podOf(serve).containers[0];
  expect(served.ports).toEqual([{ name: 'http', containerPort: Number(inLast('EXPOSE')) }]);
  const paths = ['startupProbe', 'readinessProbe', 'livenessProbe'].map(
    (name) => probe.parse(served[name]).httpGet.path,
  );
  // A process that drains is sent nothing, and lives.
  expect(paths).toEqual(['/ready', '/ready', '/health']);
  const labels = Object(serve).spec.template.metadata.labels;
  expect(Object(budget).spec.selector.matchLabels).toEqual(labels);
  expect(Object(front).spec.selector).toEqual(labels);
  const drain = parseConfig({ EXHIBIT_DRAIN: served.env[1].value }, { cwd: '/app' });
  if (!drain.ok) throw new Error(drain.problems.join());
  const STOP_S = 10;
  const graceS = podOf(serve).terminationGracePeriodSeconds;
  expect(graceS).toBeGreaterThanOrEqual(drain.config.drainMs / 1_000 + STOP_S);
});

const isHidden = (name: string) =>
  Object.entries(SETTINGS).some(
    ([one, { reader }]) => one === name && reader.showing === 'nothing',
  );

test('dashboard and alerts name only metrics that a process exports', async () => {
  const meters = createMeters([
    ...listGauges({ watched: () => null }),
    ...storeGauges(openPostgres('postgres://nobody@127.0.0.1:1/none'), CONTEXT, {
      producesSignals: true,
      anchoring: () => OFF,
    }),
  ]);
  const exported = new Set(
    [...(await meters.registry.metrics()).matchAll(/^# TYPE (\S+)/gm)].map(([, name]) => name),
  );
  const files = ['deploy/grafana-dashboard.json', 'deploy/alerts.yaml'].map(text);
  const lags = /exhibit_chain_lag_seconds_/;
  const named = files
    .flatMap((file) => file.match(/exhibit_[a-z_]+/g) ?? [])
    .filter((name) => !lags.test(name))
    .map((name) => name.replace(/_bucket$/, ''));
  expect(new Set(named).size).toBeGreaterThan(12);
  expect(named.filter((name) => !exported.has(name))).toEqual([]);
  const { groups } = parse(String(files[1]));
  const alerts = z
    .array(z.object({ alert: z.string(), expr: z.string(), for: z.string() }).loose())
    .parse(groups[0].rules);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
  const { panels } = z
    .object({ panels: z.array(z.looseObject({ id: z.int(), title: z.string() })) })
    .parse(JSON.parse(String(files[0])));
  expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length);
});

const CONTEXT = { simulated: false, nowMs: Date.now };
const OFF = { state: 'off' } as const;

test('one job migrates before the others start, and a stop leaves them the time to drain', () => {
  const kept = z.object({
    command: words,
    restart: z.string(),
    depends_on: z.record(z.string(), z.object({ condition: z.string() })),
    stop_grace_period: z.string().regex(/^\d+s$/),
    environment: z.looseObject({ EXHIBIT_DRAIN: z.string() }),
  });
  const { services } = z
    .object({ services: z.record(z.string(), z.unknown()) })
    .parse(parse(text('deploy/compose.yaml'), { merge: true }));
  const [migrate, ...others] = own.map(([name]) => kept.parse(services[name]));
  expect(migrate).toMatchObject({ command: ['migrate'], restart: 'no' });
  expect(Object.keys(Object(migrate).depends_on)).toEqual(['postgres', 'clickhouse']);
  const DONE = { migrate: { condition: 'service_completed_successfully' } };
  for (const { depends_on, environment, stop_grace_period } of others) {
    expect(depends_on).toEqual(DONE);
    const drain = parseConfig({ EXHIBIT_DRAIN: environment.EXHIBIT_DRAIN }, { cwd: '/app' });
    if (!drain.ok) throw new Error(drain.problems.join());
    const STOP_S = 10;
    const graceS = Number.parseInt(stop_grace_period, 10);
    expect(graceS).toBeGreaterThanOrEqual(drain.config.drainMs / 1_000 + STOP_S);
  }
});

test('a service that lacks the secret of its stores is refused by name', () => {
  const { EXHIBIT_DATABASE_URL } = composed.services['serve']?.environment ?? {};
  const refused = parseConfig(
    { EXHIBIT_DATABASE_URL: filled(String(EXHIBIT_DATABASE_URL)) },
    { cwd: '/app' },
  );
  expect(refused).toMatchObject({
    ok: false,
    problems: [expect.stringContaining('EXHIBIT_SECRET')],
  });
});

test('no secret has a default: each must be given, or the start ends with its name', () => {
  const hidden = Object.entries(SETTINGS).flatMap(([name, one]) =>
    one.reader.showing === 'nothing' ? name : [],
  );
  const isSecret = (name: string) => hidden.includes(name) || name.endsWith('_PASSWORD');
  expect(hidden).toContain('EXHIBIT_SECRET');
  expect(Object.keys(ENV).filter(isSecret)).toEqual([]);
  expect(given('ARG')).toEqual([]);
  const values = Object.values(composed.services).flatMap((one) => Object.entries(one.environment));
  expect(values.filter(([name]) => isSecret(name)).map(([name]) => name)).toEqual([
    'EXHIBIT_SECRET',
    'EXHIBIT_SECRET',
    'EXHIBIT_SECRET',
    'POSTGRES_PASSWORD',
    'CLICKHOUSE_PASSWORD',
  ]);
  for (const [name, value] of values) {
    if (isSecret(name)) expect(value).toMatch(new RegExp(`^\\$\\{${name}:\\?[^}]+\\}$`));
    const password = /:\/\/[^:@/]+:([^@]+)@/.exec(value)?.[1];
    if (password !== undefined) expect(password, name).toMatch(/^\$\{[A-Z_]+:\?[^}]+\}$/);
    expect(value.replaceAll(GIVEN, ''), `${name} takes no default`).not.toContain('$');
  }
});

test('each command is one, and what it starts is copied', () => {
  const commands = HELP_GROUPS.flatMap((group) => group.commands.map(({ name }) => name));
  expect(commands).toContain(listIn(inLast('CMD'))[0]);
  for (const [name, { command }] of own) expect(commands, name).toContain(command?.[0]);
  expect(listIn(inLast('ENTRYPOINT'))).toEqual(['node', '--max-semi-space-size=32', 'bin/exhibit']);
  const scripts = z.object({ scripts: z.record(z.string(), z.string()) });
  const known = scripts.parse(JSON.parse(text('package.json'))).scripts;
  const run = given('RUN').flatMap((line) => /^npm run (\S+)/.exec(line)?.[1] ?? []);
  expect(run).toEqual(['build']);
  expect(known['build']).toBe('tsc -p tsconfig.build.json && node bin/bundle.mjs dist');
  // It builds with what bin holds, and runs it.
  expect(given('COPY').filter((files) => files === 'bin ./bin')).toHaveLength(2);
});

test('every file that is copied exists and enters the build, and nothing else does', () => {
  const copied = given('COPY')
    .filter((line) => !line.startsWith('--from='))
    .flatMap((line) => line.split(' ').slice(0, -1));
  for (const path of copied) expect(existsSync(ROOT + path), path).toBe(true);
  const admitted = text('deploy/Dockerfile.dockerignore').split('\n');
  expect(admitted.filter((line) => line.startsWith('!')).map((line) => line.slice(1))).toEqual(
    [...new Set(copied)].sort(),
  );
  expect(admitted).toContain('*');
});

test('the image holds every file outside of src that the service reads while it runs', () => {
  const held = lastStage
    .filter(({ word }) => word === 'COPY')
    .map(({ rest }) => String(rest.split(' ').at(-1)).replace('./', ''));
  const read = codeUnder(ROOT.replace(/\/$/, ''), 'src')
    .filter((path) => !/\.(test|test-d|suite)\.|^src\/testing\//.test(path))
    .flatMap((path) =>
      [...text(path).matchAll(/new URL\('([./]+\/[^'`]+)', import\.meta\.url\)/g)].map(([, to]) =>
        new URL(String(to), `file:///${path}`).pathname.slice(1),
      ),
    )
    .filter((path) => !path.startsWith('src/'));
  expect(read).toContain('migrations/control');
  expect(read.filter((path) => !existsSync(ROOT + path))).toEqual([]);
  const isHeld = (path: string) => held.some((one) => path === one || path.startsWith(`${one}/`));
  expect(read.filter((path) => !isHeld(path))).toEqual([]);
});

test('it runs as nobody in particular, and keeps its data in a volume', () => {
  expect(given('FROM').map((line) => line.replace(/ .*/, ''))).toEqual([
    'node:24',
    'node:24',
    'node:24-slim',
  ]);
  expect(lastStage.filter(({ word }) => word === 'USER')).toEqual([{ word: 'USER', rest: 'node' }]);
  expect(inLast('VOLUME')).toBe(ENV['EXHIBIT_DATA_DIR']);
  for (const [name, { volumes, ports }] of own) {
    const [volume, at] = String(volumes[0]).split(':');
    expect(at).toBe(ENV['EXHIBIT_DATA_DIR']);
    expect(Object.keys(composed.volumes), name).toContain(volume);
    for (const port of ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/);
  }
});

test('the health check asks /ready: 200 is healthy; 503 and nobody there are not', async () => {
  const check = listIn(inLast('HEALTHCHECK')?.replace(/^.*? CMD /, ''));
  const asked: string[] = [];
  let status = 200;
  const server = createServer((request, response) => {
    asked.push(String(request.url));
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? String(address.port) : '';
  const checked = async () => {
    const child = spawn(process.execPath, check.slice(1), { env: { EXHIBIT_PORT: port } });
    return (await once(child, 'close'))[0];
  };
  expect(check[0]).toBe('node');
  expect(await checked()).toBe(0);
  status = 503;
  expect(await checked()).toBe(1);
  expect(asked).toEqual(['/ready', '/ready']);
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
  expect(await checked()).toBe(1);
  expect(composed.services['work']?.healthcheck).toEqual({ disable: true });
});

test('the workflow runs .ci/run on both lines of Node.js, and may write nothing', () => {
  const flow = parse(text('.github/workflows/ci.yml'));
  expect(flow.permissions).toEqual({ contents: 'read' });
  expect(flow.jobs.test.strategy.matrix.node).toEqual([20, 24]);
  const steps = z.array(z.record(z.string(), z.unknown())).parse(flow.jobs.test.steps);
  expect(steps.flatMap(({ run }) => run ?? [])).toEqual(['bash .ci/run']);
  for (const { uses } of steps.filter((one) => 'uses' in one)) expect(uses).toMatch(/@v\d+$/);
  expect(flow.jobs.test.container).toMatch(/^node:/);
});
