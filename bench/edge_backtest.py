"""Recomputes a backtest from calls and opens, by the definitions alone and in plain loops.

Reads {opens: {asset: [open or null]}, calls: [{asset, direction, entry_h, exit_h, funding_paid}],
cost_bps, from_h, to_h} from standard input. Hours count from a midnight UTC.
"""

import json
import math
import statistics
import sys

Z = 1.959963984540054


def drawdown(path):
    peak, most = -math.inf, 0.0
    for value in path:
        peak = max(peak, value)
        most = max(most, (peak - value) / peak)
    return most


def clusters(calls):
    sizes = []
    for asset in sorted({call["asset"] for call in calls}):
        end = -math.inf
        for call in sorted((c for c in calls if c["asset"] == asset), key=lambda c: c["entry_h"]):
            if call["entry_h"] < end:
                sizes[-1] += 1
            else:
                sizes.append(1)
            end = max(end, call["exit_h"])
    return sizes


def wilson(p, n):
    middle = (p + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return max(0.0, middle - half), min(1.0, middle + half)


def main():
    asked = json.load(sys.stdin)
    opens, calls, cost = asked["opens"], asked["calls"], asked["cost_bps"] / 1e4
    gross, net = [], []
    for call in calls:
        price = opens[call["asset"]]
        sign = 1 if call["direction"] == "long" else -1
        moved = sign * (price[call["exit_h"]] / price[call["entry_h"]] - 1)
        gross.append(moved)
        net.append(moved - call["funding_paid"] - cost)
    path, value, days = [1.0], 1.0, []
    start = value
    for hour in range(asked["from_h"], asked["to_h"]):
        if hour % 24 == 0:
            start = value
        held = []
        for call in calls:
            if not call["entry_h"] <= hour < call["exit_h"]:
                continue
            price = opens[call["asset"]]
            sign = 1 if call["direction"] == "long" else -1
            own = sign * (price[hour + 1] / price[hour] - 1)
            own -= call["funding_paid"] / (call["exit_h"] - call["entry_h"])
            own -= cost / 2 * ((hour == call["entry_h"]) + (hour == call["exit_h"] - 1))
            held.append(own)
        if held:
            value *= 1 + sum(held) / len(held)
        path.append(value)
        if hour % 24 == 23 and hour - asked["from_h"] >= 23:
            days.append(value / start - 1)
    mean = statistics.fmean(days)
    central = [statistics.fmean((day - mean) ** k for day in days) for k in (2, 3, 4)]
    sizes = clusters(calls)
    worth = sum(sizes) ** 2 / sum(size * size for size in sizes)
    hits = sum(one > 0 for one in net)
    print(json.dumps({
        "hit_rate": hits / len(net),
        "interval": wilson(hits / len(net), worth),
        "effective_n": worth,
        "mean": statistics.fmean(net) * 1e4,
        "median": statistics.median(net) * 1e4,
        "gross_mean": statistics.fmean(gross) * 1e4,
        "gross_median": statistics.median(gross) * 1e4,
        "breakeven": statistics.fmean(one + cost for one in net) * 1e4,
        "last": path[-1],
        "max_drawdown": drawdown(path),
        "sharpe": mean / statistics.stdev(days) * math.sqrt(365),
        "sharpe_n": len(days),
        "skew": central[1] / central[0] ** 1.5,
        "kurtosis": central[2] / central[0] ** 2,
    }))


main()
