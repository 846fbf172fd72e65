// This process composes the real service; the only thing that can be left out is the stored
// charge.

import { closings } from '../src/compose/closings.ts';
import { createLogger } from '../src/compose/logger.ts';
import { outsideOf } from '../src/compose/outside.ts';
import { startParts } from '../src/compose/parts.ts';
import { startServing } from '../src/compose/serving.ts';
import { openStores } from '../src/compose/stores.ts';
import { parseConfig } from '../src/config.ts';

type ServiceOrder = {
  readonly env: { readonly [name: string]: string };
  readonly charging: boolean;
};

process.once('message', (order: ServiceOrder) => {
  start(order).then(
    (port) => process.send?.({ port }),
    (fault: unknown) => {
      process.stderr.write(`${String(fault)}\n`);
      process.exit(1);
    },
  );
});

async function start({ env, charging }: ServiceOrder): Promise<number> {
  const parsed = parseConfig(env, { cwd: process.cwd() });
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  const { config } = parsed;
  const log = createLogger();
  const opened = closings((name, fault) => log.error({ name, fault: String(fault) }, 'stop'));
  const stores = await openStores(config);
  opened.add('stores', stores.close);
  const parts = await startParts(config, stores, outsideOf(config), log, opened);
  const gate: typeof parts.gate = charging
    ? parts.gate
    : { ...parts.gate, charge: async ({ figures }) => ({ kind: 'charged', figures }) };
  const serving = await startServing({ ...parts, config, gate, log });
  opened.add('http', serving.close);
  process.once('SIGTERM', async () => {
    await opened.closeAll();
    process.exit(0);
  });
  return Number(new URL(serving.url).port);
}
