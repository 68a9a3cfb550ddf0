#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The AWS client, imported once: nine tenths of the CPU of a call are imports.

    aws_calls.py FOLDER     see forked_calls.py"""

import sys
from pathlib import Path

import awscli.clidriver
import awscli.customizations.s3.subcommands
import awscli.handlers
import botocore.client
import s3transfer.manager  # noqa: F401
from forked_calls import serve

MODELS = "AWS_DATA_PATH"  # set where awscli is imported

serve(Path(sys.argv[1]), "aws", awscli.clidriver.main, [MODELS])
