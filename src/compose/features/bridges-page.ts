// Answers one question: how is the table of bridge contracts served as a page.

import { Read } from '../../evidence/reading.ts';
import { registryBridgesPage } from '../../features/bridges/registry.page.tsx';
import { published } from '../../features/bridges/registry-bridges.route.ts';
import type { PageFacts } from '../../pages/layout.tsx';
import type { BridgeRegistry } from '../../ports/bridges/bridge-registry.ts';
import type { Document } from '../../transport/http.ts';
import { API_HEADERS, PAGE_HEADERS } from '../../transport/security-headers.ts';

/** The page of the registry, made from the table in force. */
export function registryDocument(facts: PageFacts, registry: BridgeRegistry): Document {
  return {
    path: '/registry/bridges',
    contentType: 'text/html; charset=utf-8',
    headers: { ...API_HEADERS, ...PAGE_HEADERS, 'cache-control': 'no-store' },
    say: async () => {
      const table = await registry.table();
      const readable = table instanceof Read && table.value.rows.length > 0;
      if (readable)
        return { status: 200, text: registryBridgesPage(facts, published(table.value)) };
      const reason = table instanceof Read ? 'it holds no row.' : table.why.reason;
      return { status: 503, text: registryBridgesPage(facts, { reason }) };
    },
  };
}
