# SPDX-License-Identifier: Apache-2.0
"""Perfetto itself, as tests ask it: importer.py, ui.py; held.py, compare.py and sources.py say what about."""
