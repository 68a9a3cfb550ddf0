#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the .deb of a static program that is there.
#
#   scripts/packaging/deb.sh VERSION STATIC OUT [ARCHITECTURE]       STATIC: the folder of the program and its SBOM
set -euo pipefail
version=${1:?} static=$(cd "${2:?}" && pwd) out=$(mkdir -p "${3:?}" && cd "$3" && pwd) architecture=${4:-$(dpkg --print-architecture)}
here=$(cd "$(dirname "$0")" && pwd)
# Who builds a package is its maintainer.
maintainer="${DEBFULLNAME:-$(git -C "$here" log -1 --format=%cn)} <${DEBEMAIL:-$(git -C "$here" log -1 --format=%ce)}>"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tree=$work/tracemill-$version
mkdir -p "$tree/scripts/packaging"
cp "$here/../../NOTICE" "$here/../../LICENSE" "$tree/"
cp "$here/../install-extras.sh" "$tree/scripts/"
cp "$here/sbom.py" "$tree/scripts/packaging/"
cp -r "$here/debian" "$tree/debian"
sed -i "s/@MAINTAINER@/$maintainer/" "$tree/debian/control"
cat >"$tree/debian/changelog" <<EOF
tracemill ($version) stable; urgency=medium

  * Release $version: see CHANGES.md of the sources.

 -- $maintainer  $(LC_ALL=C date -u -R -d "@${SOURCE_DATE_EPOCH:-0}")
EOF
(cd "$tree" && STATIC=$static dpkg-buildpackage -d -us -uc -b -a"$architecture" >"$work/log" 2>&1) || { tail -n 30 "$work/log" >&2; exit 1; }
cp "$work"/*.deb "$out/"
