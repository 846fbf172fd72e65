#!/usr/bin/env python3
"""Runs verify.py and verify_answer.py over the vectors of docs/reference/vectors: verify_vectors.py
FOLDER. Each vector on which they disagree is a line, and exit status 1; the last counts all."""
import base64, json, os, sys
import verify, verify_answer

def load(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8", newline="") as file:
        return json.load(file) if name.endswith(".json") else file.read()

def kind_of(raw):
    written = verify.parse(raw)[1]
    return "refused" if written is None else "canonical" if written == raw else "same_content"

def bundle(one):
    raw = base64.b64decode(one["bytes"])
    content = verify.keccak(verify.parse(raw)[1]) if one["is"] == "same_content" else None
    return (kind_of(raw), verify.keccak(raw), content) == (
        one["is"], one["hash"], one.get("content_hash"))

def call(one):
    try:
        hashed = verify.call_hash(one["call"])
    except (ValueError, OverflowError):
        return one["call_hash"] is None
    return (hashed, "sig_" + hashed[2:34]) == (one["call_hash"], one["signal_id"])

def inclusion(one):
    leaf, root, proof = verify.unhex(one["leaf"]), verify.unhex(one["root"]), one["proof"]
    found = verify.included(leaf, one["index"], one["size"], root, list(map(verify.unhex, proof)))
    return found == one["valid"]

def consistency(one):
    trees = [(tree["size"], verify.unhex(tree["root"])) for tree in (one["older"], one["newer"])]
    return verify.consistent(*trees, list(map(verify.unhex, one["proof"]))) == one["valid"]

def note(one):
    try:
        read = verify.note_of(one["note"])
        valid = read["origin"] == one["origin"] and bool(verify.signers(read, [one["key"]]))
    except ValueError:
        valid = False
    return valid == one["valid"]

def signal(one, keys):
    pinned = keys if one["pinned_keys"] else None
    found = verify.check(json.dumps(one["file"]), pinned, one["checkpoint"])
    told = [{name for name in found if found[name] is what} for what in (False, None)]
    return told == [set(one["fails"]), set(one["unchecked"])]

def answer(one, keys):
    known = {name: one[name] for name in ("now", "nonce", "seen", "leaf_at")}
    found = verify_answer.check(json.dumps(one["file"]), keys, **known)
    return found == (one["state"], one["fault"])

def main(folder):
    keys = json.dumps(load(folder, "keys.json"))
    proofs = load(folder, "proofs.json")
    rows = [("bundles", bundle, load(folder, "bundles.json")),
            ("calls", call, load(folder, "calls.json")),
            ("inclusion", inclusion, proofs["inclusion"]),
            ("consistency", consistency, proofs["consistency"]),
            ("notes", note, load(folder, "notes.json")),
            ("signals", lambda one: signal(one, keys), load(folder, "signals.json")),
            ("answers", lambda one: answer(one, keys), load(folder, "answers.json"))]
    told = [(name, one["name"], agrees(one)) for name, agrees, all_of in rows for one in all_of]
    wrong = [(name, which) for name, which, is_agreed in told if not is_agreed]
    for name, which in wrong:
        print(f"disagrees on {which!r} of {name}")
    print(f"{len(told)} vectors, {len(wrong)} disagree")
    return 1 if wrong else 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
