"""Decides by a policy over saved answers, without a line of the service's code.

usage: python3 policy.py FIELDS.json POLICY.json ANSWERS.jsonl
FIELDS is docs/reference/policy/fields.json. A line of ANSWERS holds the answers about an address:
{"screen": …, "ofac": …, "evidence": …}. The policy is evaluated here, and not checked.
"""
import hashlib, json, operator, re, sys
from decimal import Decimal

TOKEN = r"\"[^\"]*\"|'[^']*'|-?\d+(?:\.\d+)?|[A-Za-z_][\w.]*|[<>!]=|[()<>=,]"
SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
BYTES_MAX, LEVELS_MAX = 256 * 1024, 8
def plain(value, level=0):
    """What is hashed: keys in order, and a number that is no safe integer as its digits."""
    if isinstance(value, (dict, list)) and level == LEVELS_MAX:
        raise ValueError("too deep")
    if isinstance(value, dict):
        keys = sorted(value, key=lambda key: key.encode("utf-16-be"))
        return {key: plain(value[key], level + 1) for key in keys}
    if isinstance(value, list):
        return [plain(one, level + 1) for one in value]
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return value
    if float(value).is_integer() and abs(value) < 2**53:
        return int(value)
    return format(Decimal(repr(float(value))), "f").removesuffix(".0")
def sha256(value):
    """The hash of canonical JSON; None: there is no such form."""
    try:
        data = json.dumps(plain(value), ensure_ascii=False, separators=(",", ":")).encode()
    except ValueError:
        return None
    return hashlib.sha256(data).hexdigest() if len(data) <= BYTES_MAX else None
negate = lambda truth: None if truth is None else not truth

def evaluate(rule, read):
    """The truth of a rule (None: unknown), and the fields that it names."""
    words, fields = re.findall(TOKEN, rule), []
    def joined(word, decides, part):
        truths = [part()]
        while words[:1] == [word]:
            words.pop(0)
            truths.append(part())
        return decides if decides in truths else None if None in truths else not decides
    def either():
        return joined("or", True, lambda: joined("and", False, term))
    def term():
        word = words.pop(0)
        if word == "not":
            return negate(term())
        if word == "(":
            return (either(), words.pop(0))[0]
        fields.append(word)
        (values, why), sign = read(word), words.pop(0)
        if sign == "is":
            return (why is None) == (words.pop(0) == "known")
        is_turned = sign in ("!=", "not")
        sign = words.pop(0) if sign == "not" else sign
        wanted = [words.pop(0)]
        while sign == "in" and wanted[-1] != ")":
            wanted.append(words.pop(0))
        wanted = [Decimal(one) if one[-1].isdigit() and one[0] in "-0123456789" else one.strip(one[0])
                  if one[0] in "\"'" else one for one in wanted if one not in ("(", ",", ")")]
        test = SIGNS.get(sign, operator.eq)
        is_hit = any(test(own, one) for own in values for one in wanted)
        truth = is_hit if is_hit or why is None else None
        return negate(truth) if is_turned else truth
    return either(), fields

def stands(answer, path):
    """What stands at a path; `...` for each way that ends before it."""
    at = [answer]
    for step in path.split("."):
        below = [one if isinstance(one, list) else [...] for one in at] if step == "*" else [
            [one.get(step, ...) if isinstance(one, dict) else ...] for one in at]
        at = [one for some in below for one in some]
    return at
def are_so(answer, conditions):
    return all((one is None or isinstance(one, (bool, str))) and one in so["in"]
               for so in conditions for one in stands(answer, so["at"]))
def value_of(value, field):
    kind = list if field.get("count") else {"flag": bool, "number": (int, float)}.get(field["type"], str)
    if not isinstance(value, kind) or isinstance(value, bool) != (kind is bool) or value == "":
        return None
    if kind is str:
        return value if value in field.get("words", [value]) else None
    return str(value).lower() if kind is bool else Decimal(len(value) if kind is list else plain(value))
def read_field(answer, field):
    """The values that were seen, and why they are not all (None: they are)."""
    if any(are_so(answer, conditions) for conditions in field["nothing"]):
        return [], None
    found = [value_of(one, field) for one in stands(answer, field["at"])]
    values = [one for one in found if one is not None]
    is_whole = None not in found and are_so(answer, field["read"])
    if field["type"] == "flag":
        values = ["true"] if "true" in values else ["false"] if is_whole else []
        return values, None if values else "not_read"
    return (values, None) if is_whole else (values if field["type"] != "number" else [], "not_read")

def hold(name, answer):
    """The hash of an answer, its address, and why none of its fields counts as read."""
    digest = None if answer is None else sha256(answer)
    if digest is None:
        return None, None, "not_given" if answer is None else "no_canonical_form"
    found = stands(answer, "data.results.*.address" if name == "screen" else "subject")
    address = found[0] if len(found) == 1 and isinstance(found[0], str) else None
    address = address.lower() if address and address[:2].lower() == "0x" else address
    is_ok = isinstance(answer, dict) and answer.get("state") == "ok"
    return digest, address, "no_data" if not is_ok else None if address else "not_one_address"

def decide(policy, answers, table):
    readings, named, truths = {}, {}, {}
    def read(word):
        if word in readings:
            return readings[word]
        name = word.removeprefix("clause.")
        truths[name], named[name] = evaluate(policy["clauses"][name]["rule"], read)
        truth = [] if truths[name] is None else [str(truths[name]).lower()]
        return readings.setdefault(word, (truth, None if truth else "not_read"))
    texts = [clause["rule"] for clause in policy["clauses"].values()]
    used = sorted({word for text in texts for word in re.findall(TOKEN, text) if word in table})
    reads = sorted({table[field]["answer"] for field in used})
    held = {name: hold(name, answers.get(name)) for name in reads}
    found = {address for _, address, _ in held.values() if address is not None}
    for field in used:
        name = table[field]["answer"]
        why = held[name][2] or (None if len(found) == 1 else "not_one_address")
        readings[field] = ([], why) if why else read_field(answers[name], table[field])
    for name in policy["clauses"]:
        read("clause." + name)
    unread = [{"field": field, "code": readings[field][1]} for field in used if readings[field][1]]
    clauses = [{"name": name, "of": of, "value": truths[name], "why": policy["clauses"][name].get("why")}
               for of in ("hold", "allow") for name in policy[of]]
    def touches(name):
        return any(word in (one["field"] for one in unread) if word in table
                   else touches(word.removeprefix("clause.")) for word in named[name])
    stopping = [name for name in policy["hold"] if truths[name]] or [
        name for name in policy["allow"] if truths[name] is False]
    word = "hold" if stopping else "could_not_check" if unread else "allow"
    decided = stopping or [one["name"] for one in clauses if not unread or touches(one["name"])]
    return {"format": "exhibit-decision/1", "decision": word, "decided_by": decided,
            "address": found.pop() if len(found) == 1 else None, "policy": policy["name"],
            "policy_sha256": sha256(policy), "clauses": clauses, "unread": unread,
            "answers": [{"name": name, "sha256": held[name][0]} for name in reads],
            "simulated": any(held[one][0] and stands(answers[one], "simulated") == [True] for one in reads)}

if __name__ == "__main__":
    TABLE, POLICY = (json.load(open(path, encoding="utf-8")) for path in sys.argv[1:3])
    for line in open(sys.argv[3], encoding="utf-8"):
        print(json.dumps(decide(POLICY, json.loads(line), TABLE["fields"]), ensure_ascii=False))
