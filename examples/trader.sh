#!/usr/bin/env bash
# When does a trader of Hyperliquid make money, and is that more than chance?
#   examples/trader.sh ADDRESS [realization|exposure]
# Prints the answer. An address that nobody asked about is queued: `analysed` is false then, and
# `detail` says why; ask again after some minutes. Labels stand in `classification`.
set -euo pipefail
address=${1:?which address?}
curl --silent --show-error --max-time 30 --get \
  ${2:+--data-urlencode "mode=$2"} \
  "${BASE_URL:-http://127.0.0.1:8080}/api/traders/$address/temporal"
