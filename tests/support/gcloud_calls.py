#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Google's client, imported once: nine tenths of the CPU of a call are imports.

    gcloud_calls.py FOLDER LIBRARY     see forked_calls.py; LIBRARY: the folder of gcloud.py

Its own interpreter runs it as it runs gcloud.py: -S, and the client's modules before others."""

import sys
from pathlib import Path

from forked_calls import serve

sys.path[:0] = [f"{sys.argv[2]}/third_party", sys.argv[2]]

import googlecloudsdk.gcloud_main  # noqa: E402
# What cat, cp, rsync, rm and objects list import when they run.
import googlecloudsdk.api_lib.container.api_adapter  # noqa: E402
import googlecloudsdk.api_lib.storage.api_factory  # noqa: E402
import googlecloudsdk.command_lib.storage.cp_command_util  # noqa: E402
import googlecloudsdk.command_lib.storage.ls_command_util  # noqa: E402
import googlecloudsdk.command_lib.storage.rsync_command_util  # noqa: E402, F401
import googlecloudsdk.generated_clients.apis.storage.v1.storage_v1_client  # noqa: E402, F401

serve(Path(sys.argv[1]), "gcloud", googlecloudsdk.gcloud_main.main)
