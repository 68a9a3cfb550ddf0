# SPDX-License-Identifier: Apache-2.0
"""Seeds of fuzz_partial: small profiles, of which the target makes partials."""

import json

import make_profile
import make_seeds


def seeds():
    out = {kind: make(steps=2, devices=1, per_step=4).encode() for kind, make in make_profile.ALL_MAKERS.items()}
    out["pytorch"] = json.dumps(make_seeds.pytorch_trace()).encode()
    out["program"] = make_seeds.program() + out["gpu"]
    return out
