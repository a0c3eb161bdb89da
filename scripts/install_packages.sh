#!/usr/bin/env bash
# Installs the Debian packages of the named groups of packages.txt that are missing.
#   scripts/install_packages.sh build test
set -euo pipefail
cd "$(dirname "$0")/.."

if ! command -v dpkg-query >/dev/null; then
  echo "note: not a Debian machine, so nothing is installed; packages.txt lists what is needed" >&2
  exit 0
fi

wanted=()
for group in "$@"; do
  mapfile -t found < <(awk -v group="$group" '$1 == group { print $2 }' packages.txt)
  if [ "${#found[@]}" -eq 0 ]; then
    echo "error: packages.txt has no group \`$group\`" >&2
    exit 1
  fi
  wanted+=("${found[@]}")
done

# dpkg-query fails when it does not know one of them; that one is then missing.
installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "${wanted[@]}" 2>/dev/null || true)
missing=()
for package in "${wanted[@]}"; do
  grep -qxF "installed $package" <<<"$installed" || missing+=("$package")
done
[ "${#missing[@]}" -gt 0 ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
  as_root=(env)
elif command -v sudo >/dev/null; then
  as_root=(sudo)
else
  echo "error: these packages are missing: ${missing[*]}" >&2
  echo "  ask an administrator to run:  apt-get install ${missing[*]}" >&2
  exit 1
fi

# One line; what apt says is shown only where it fails.
if [ "${#missing[@]}" -eq 1 ]; then count="1 package"; else count="${#missing[@]} packages"; fi
echo "installing $count: ${missing[*]}" >&2
log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" </dev/null >"$log" 2>&1 && return
  cat "$log" >&2
  echo "error: \`$*\` failed" >&2
  exit 1
}
quietly apt-get -qq update
quietly apt-get -qq install --yes --no-install-recommends "${missing[@]}"
