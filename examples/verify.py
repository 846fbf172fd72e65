#!/usr/bin/env python3
"""Checks a saved signal by Python's standard library: verify.py FILE [--keys FILE] [--checkpoint
FILE]. Exit status 0: every check holds, 1: one fails, 3: none fails, and one could not be made."""
import datetime, hashlib, json, math, sys
from base64 import b64decode as decode, urlsafe_b64decode as decode_url

# Keccak-256: the permutation of SHA-3 (FIPS 202) behind another padding.
rotate = lambda lane, by: (lane << by | lane >> (64 - by)) & (2**64 - 1)
unhex = lambda text: bytes.fromhex(text[2:])
def permute(lanes):
    lfsr = 1
    for _ in range(24):
        sums = [a ^ b ^ c ^ d ^ e for a, b, c, d, e in lanes]
        mixed = [sums[(x + 4) % 5] ^ rotate(sums[(x + 1) % 5], 1) for x in range(5)]
        lanes = [[lanes[x][y] ^ mixed[x] for y in range(5)] for x in range(5)]
        x, y, moved = 1, 0, lanes[1][0]
        for t in range(24):
            x, y = y, (2 * x + 3 * y) % 5
            moved, lanes[x][y] = lanes[x][y], rotate(moved, (t + 1) * (t + 2) // 2 % 64)
        lanes = [[lanes[x][y] ^ ~lanes[(x + 1) % 5][y] & lanes[(x + 2) % 5][y]
                  for y in range(5)] for x in range(5)]
        for bit in range(7):
            lfsr = (lfsr << 1 ^ (lfsr >> 7) * 0x71) % 256
            lanes[0][0] ^= (lfsr >> 1 & 1) << (1 << bit) - 1
    return lanes
def keccak(data):
    padded = bytearray(data + b"\x01" + bytes(-(len(data) + 1) % 136))
    padded[-1] |= 0x80
    lanes = [[0] * 5 for _ in range(5)]
    for at in range(0, len(padded), 136):
        for i in range(17):
            lanes[i % 5][i // 5] ^= int.from_bytes(padded[at + 8 * i : at + 8 * i + 8], "little")
        lanes = permute(lanes)
    return "0x" + b"".join(lanes[i][0].to_bytes(8, "little") for i in range(4)).hex()

# Canonical JSON (RFC 8785) of whole numbers. What two readers could read apart is refused.
def refuse(*_):
    raise ValueError("refused")
def depth(value):
    inside = value.values() if isinstance(value, dict) else value
    return 1 + max(map(depth, inside), default=0) if isinstance(value, (dict, list)) else 0
def canonical(value):
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if not isinstance(value, dict):
        return json.dumps(value, ensure_ascii=False)
    keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
    return "{" + ",".join(canonical(key) + ":" + canonical(value[key]) for key in keys) + "}"
def parse(data):  # the value and its canonical bytes; None and None where nobody may read it
    fields = lambda pairs: dict(pairs) if len(dict(pairs)) == len(pairs) else refuse()
    integer = lambda text: int(text) if len(text) < 20 and abs(int(text)) < 2**53 else refuse()
    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=fields, parse_int=integer,
                           parse_float=refuse, parse_constant=refuse)
        written = canonical(value).encode("utf-8")
        return (value, written) if len(data) <= 2**18 and depth(value) <= 8 else (None, None)
    except (ValueError, RecursionError):
        return None, None

# call_hash: hashStruct of EIP-712, without a domain.
TYPE = ("Call(string version,string chain,string target,string verdict,uint32 confidence_millionths"
        ",string reasoning,string[] evidence_used,bytes32 evidence_hash,string prompt_version,"
        "string model,string run_id,uint64 generated_at_unix)")
def word(kind, value):
    if kind == "bytes32":
        return unhex(value) if len(value) == 66 and value == "0x" + unhex(value).hex() else refuse()
    if kind.startswith("uint"):
        return value.to_bytes(int(kind[4:]) // 8, "big").rjust(32, b"\0")
    text = b"".join(word("string", one) for one in value) if kind == "string[]" else value.encode()
    return unhex(keccak(text))
def call_hash(call):
    words = [word(kind, call[name]) for kind, name in map(str.split, TYPE[5:-1].split(","))]
    return keccak(word("string", TYPE) + b"".join(words))

# The log: the hashes of RFC 6962, and the checks of RFC 9162, section 2.1.3.
node = lambda left, right: hashlib.sha256(b"\x01" + left + right).digest()
def climb(at, last, proof, new, old):
    for one in proof:
        if last == 0:
            return None, None
        if at & 1 or at == last:
            new, old = node(one, new), node(one, old)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            new = node(new, one)
        at, last = at >> 1, last >> 1
    return (new, old) if last == 0 else (None, None)
def included(leaf, index, size, root, proof):
    start = hashlib.sha256(b"\x00" + leaf).digest()
    return 0 <= index < size and climb(index, size - 1, proof, start, start)[0] == root
def consistent(older, newer, proof):
    (m, old_root), (n, new_root) = older, newer
    if m >= n or m < 1:
        return m == n and old_root == new_root and not proof
    path, at, last = ([] if m & (m - 1) else [old_root]) + proof, m - 1, n - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    return bool(proof) and climb(at, last, path[1:], path[0], path[0]) == (new_root, old_root)

# Ed25519 (RFC 8032), and the checkpoints that it signs (C2SP signed-note).
P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P
def add(a, b):
    (x, y), (v, w), k = a, b, D * a[0] * b[0] * a[1] * b[1]
    return (x * w + v * y) * pow(1 + k, -1, P) % P, (y * w + x * v) * pow(1 - k, -1, P) % P
def times(n, point):
    half = (0, 1) if n < 2 else times(n // 2, add(point, point))
    return add(half, point) if n & 1 else half
def point_of(data):
    y = int.from_bytes(data, "little") % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and data[31] >> 7):
        return None
    return x if x & 1 == data[31] >> 7 else P - x, y
def is_signed(key, message, signature):
    r, a, s = point_of(signature[:32]), point_of(key), int.from_bytes(signature[32:], "little")
    h = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % L
    base = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    return None not in (r, a) and s < L and times(s, base) == add(r, times(h, a))
def note_of(text):
    body, _, lines = text.rpartition("\n\n")
    origin, size, root = body.split("\n")[:3]
    return {"text": body + "\n", "origin": origin, "tree": (int(size), decode(root)),
            "lines": [line.split(" ")[1:] for line in lines.splitlines()]}
def signers(note, keys):  # the keys that signed a note; none where a signature is forged
    found, origin, message = [], note["origin"].encode(), note["text"].encode()
    for key in keys:
        public = decode_url(key["x"] + "=")
        own = hashlib.sha256(origin + b"\n\x01" + public).digest()[:4]
        for data in [decode(line) for name, line in note["lines"] if name == note["origin"]]:
            if data[:4] == own and len(data) == 68:
                found.append(key if is_signed(public, message, data[4:]) else None)
    return [] if None in found else found

# A saved signal. A check is True, False, or None where it could not be made.
def check_pinned(saved, note, pinned):
    (older, newer), proof = sorted([pinned["tree"], note["tree"]]), saved.get("consistency")
    if pinned["origin"] != note["origin"] or (older[0] == newer[0] and older[1] != newer[1]):
        return False
    if older[0] in (0, newer[0]):
        return True
    return None if proof is None else consistent(older, newer, list(map(unhex, proof)))
def check_signature(saved, note, index, keys, pinned):
    good = lambda found: [key for key in found if key["compromised_since"] is None]
    made = saved["answer"]["signal"]["generated_at_unix"]
    found = [key for key in signers(note, keys) if made < key["exp"]]
    if not found or good(found):
        return bool(found)
    if made >= found[0]["compromised_since"]:
        return False
    is_older = pinned and good(signers(pinned, keys)) and index < pinned["tree"][0]
    return True if is_older and check_pinned(saved, note, pinned) else None
def check_log(saved, keys, checkpoint):
    head, _, text = saved["proof"].partition("\n\n")
    version, index, *proof = head.split("\n")
    note, pinned, index = note_of(text), checkpoint and note_of(checkpoint), int(index[6:])
    leaf, proof = b"\x01" + unhex(saved["answer"]["signal"]["call_hash"]), list(map(decode, proof))
    is_in = version == "c2sp.org/tlog-proof@v1" and included(leaf, index, *note["tree"], proof)
    found = {"log": is_in, "checkpoint": keys and check_signature(saved, note, index, keys, pinned)}
    return {**found, "pinned_checkpoint": check_pinned(saved, note, pinned)} if pinned else found
def check_bundle(answer, signal, bundle, confidence):
    items, sources, summary = bundle["evidence"], bundle["sources"], answer["evidence_summary"]
    citable = [key for key in items if items[key]["value"] is not None]
    why = lambda one: f'{one["status"]}: {one["code"]}' if one["reason"] is None else one["reason"]
    gaps = [(s["source"], s["status"], why(s)) for s in sources if s["status"] != "present"]
    told = [(gap["source"], gap["status"], gap["reason"]) for gap in summary["gaps"]]
    time = datetime.datetime.fromisoformat(signal["generated_at"].replace("Z", "+00:00"))
    shown = [signal["target"], signal["confidence"], time.timestamp(), told, summary["present"],
             signal["evidence_source_count"], summary["source_count"], summary["citable_key_count"]]
    follows = [bundle["target"], confidence, signal["generated_at_unix"], gaps,
               len(sources) - len(gaps), len(sources), len(sources), len(citable)]
    return {"citations": set(signal["evidence_used"]) <= set(citable), "derived": shown == follows}
def check(data, keys, checkpoint):
    try:
        saved = json.loads(data)
        answer, signal, raw = saved["answer"], saved["answer"]["signal"], saved["bundle_base64"]
        raw, millionths = decode(raw), math.floor(signal["confidence"] * 10**6 + 0.5)
        (bundle, written), own = parse(raw), {"confidence_millionths": millionths}
        own.update(chain=signal["target"]["chain"], target=signal["target"]["address"])
        hashed, follows = call_hash({**signal, **own}), {"citations": None, "derived": None}
        if written == raw:
            follows = check_bundle(answer, signal, bundle, millionths / 10**6)
        named = (signal["call_hash"], signal["signal_id"]) == (hashed, "sig_" + hashed[2:34])
        anchor = {} if signal["anchor_tx"] is None else {"anchor": None}
        found = {"bundle": written == raw and keccak(raw) == signal["evidence_hash"], **follows}
        known, is_proved = keys and json.loads(keys)["keys"], saved["proof"] is not None
        log = check_log(saved, known, checkpoint) if is_proved else {"log": None}
        return {**found, "call_hash": named, **log, **anchor}
    except (ValueError, KeyError, TypeError, AttributeError, IndexError, OverflowError):
        return {"file": False}
if __name__ == "__main__":
    options = dict(zip(sys.argv[2::2], sys.argv[3::2]))
    read = lambda path: None if path is None else open(path, encoding="utf-8", newline="").read()
    found = check(read(sys.argv[1]), read(options.get("--keys")), read(options.get("--checkpoint")))
    for name, outcome in found.items():
        print({True: "holds", False: "fails", None: "unchecked"}[outcome], name)
    sys.exit(1 if False in found.values() else 3 if None in found.values() else 0)
