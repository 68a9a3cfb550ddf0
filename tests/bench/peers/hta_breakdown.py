# SPDX-License-Identifier: Apache-2.0
"""Time and kernels of a run with HolisticTraceAnalysis:  hta_breakdown.py FOLDER, of one *.json.gz for each rank"""

import sys

from hta.trace_analysis import TraceAnalysis

analysis = TraceAnalysis(trace_dir=sys.argv[1])
print(analysis.get_temporal_breakdown(visualize=False))
print(analysis.get_gpu_kernel_breakdown(visualize=False)[1].head(20))
