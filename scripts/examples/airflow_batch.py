# SPDX-License-Identifier: Apache-2.0
"""A batch as an Airflow DAG: workers that take traces by leases (docs/cluster.md), then the merge.  The folders are
visible to all workers of Airflow."""

from datetime import datetime, timedelta

from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator

ROOT, OUT, WORKERS = "/data/profiles", "/data/perf", 4
SOME_FAILED = " || [ $? -eq 4 ]"  # status 4: some traces failed; the page lists them

with DAG("tracemill", schedule="0 2 * * *", start_date=datetime(2026, 1, 1), catchup=False, max_active_runs=1,
         default_args={"retries": 3, "retry_delay": timedelta(minutes=1)}) as dag:
    scan = BashOperator(task_id="scan", bash_command=f"mkdir -p {OUT} && tracemill batch scan {ROOT} -o {OUT}")
    runs = [BashOperator(task_id=f"run_{i}", bash_command=f"tracemill batch run --manifest {OUT}/manifest.jsonl -o {OUT} --lease 60s" + SOME_FAILED)
            for i in range(WORKERS)]
    merge = BashOperator(task_id="merge", bash_command=f"tracemill batch merge {OUT}" + SOME_FAILED, trigger_rule="all_done")
    scan >> runs >> merge
