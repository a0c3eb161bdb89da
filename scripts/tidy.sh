#!/usr/bin/env bash
# clang-tidy over src/ and tools/, one per core; fails on any finding. A file that was clean is
# looked at again only when it, a header or .clang-tidy has changed.
#   scripts/tidy.sh build/release
set -euo pipefail
cd "$(dirname "$0")/.."
stamps=$1/tidy
mkdir -p "$stamps"

# clang cannot read g++'s precompiled headers, so it gets the compile commands without them.
sed -E 's/ -fpch-preprocess| -Winvalid-pch| -include [^ ]*cmake_pch\.hxx//g' \
  "$1/compile_commands.json" > "$stamps/compile_commands.json"

mapfile -t headers < <(find include src tools -name '*.h')
due=()
while read -r file; do
  stamp=$stamps/${file//\//_}.clean
  if [ ! -f "$stamp" ] ||
     [ -n "$(find "$file" .clang-tidy "${headers[@]}" -newer "$stamp" -print -quit)" ]; then
    due+=("$file")
  fi
done < <(find src tools -name '*.cpp' | sort)
[ "${#due[@]}" -gt 0 ] || exit 0

check() {
  local stamp=$1/${2//\//_}.clean
  touch "$stamp.new"  # of the time before the check: a change during it counts
  # The extra argument: clang finds deprecated things inside std::stable_sort of libstdc++ 12.
  if clang-tidy-19 --quiet --extra-arg=-Wno-deprecated-declarations -p "$1" "$2" 2>/dev/null; then
    mv "$stamp.new" "$stamp"
  else
    rm "$stamp.new"
    return 1
  fi
}
export -f check
printf '%s\n' "${due[@]}" | xargs -P "$(nproc)" -I '{}' bash -c "check '$stamps' '{}'"
