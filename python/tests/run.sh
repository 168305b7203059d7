#!/usr/bin/env bash
# Runs the Python package's tests: run.sh PYTHON LIBMOTUS MOTUS [PYTEST OPTIONS...]
# Exit status 77 (skipped) without a Python that has NumPy and pytest.
# SPDX-License-Identifier: BSD-2-Clause
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd) python=$1
export MOTUS_LIBRARY=$2 MOTUS_PROGRAM=$3
shift 3
for candidate in "$python" python3 /usr/bin/python3; do
    "$candidate" -c 'import numpy, pytest' 2>/dev/null || continue
    cd "$here/.." && exec "$candidate" -m pytest -q -p no:cacheprovider -rs "$@" tests
done
echo "SKIP: no Python with NumPy and pytest (python3-numpy, python3-pytest)"
exit 77
