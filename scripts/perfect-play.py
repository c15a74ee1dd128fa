#!/usr/bin/env python3
"""Writes eval/dataset/oracle.json: what perfect play of each test takes. Its argument is the report.json of
`cdpilot eval run --model oracle`, of an optimised build on a quiet machine."""
import json
import sys

results = [result for result in json.load(open(sys.argv[1]))["results"] if result["model"] == "oracle"]
missed = [result["id"] for result in results if result["score"]["score"] != result["score"]["max"]]
if missed or not results:
    sys.exit(f"not perfect: {missed}")
plays = {
    result["id"]: {
        "steps": result["steps"],
        "seconds": round(result["facts"]["seconds"], 1),
        "prompt_tokens": result["tokens"]["prompt"],
        "completion_tokens": result["tokens"]["completion"],
    }
    for result in results
}
lines = [f"  {json.dumps(test)}: {json.dumps(play)}" for test, play in sorted(plays.items())]
with open("eval/dataset/oracle.json", "w") as file:
    file.write("{\n" + ",\n".join(lines) + "\n}\n")
