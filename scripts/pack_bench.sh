#!/usr/bin/env bash
# Puts bench_device, with LLVM inside, into build/bench_device with the libraries that another machine
# may lack, and packs it as build/bench_device.tar.xz. There it needs no LLVM:
#   bench_device/run --benchmark_filter=function/
#   scripts/pack_bench.sh [build/static]
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/static}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEDDLE_LLVM=ON -DHEDDLE_LLVM_STATIC=ON \
  -DHEDDLE_TESTS=OFF >/dev/null
ninja -C "$build" bench_device
packed=build/bench_device
rm -rf "$packed"
mkdir -p "$packed/lib"
strip -o "$packed/bench_device" "$build/bench/bench_device"
{
  ldd "$packed/bench_device" | awk '/libfmt|libstdc|libgcc|libbenchmark|libz/ { print $3 }'
  ldconfig -p | awk '/libsleef.so.3/ { print $NF; exit }'  # loaded at run time
} | xargs -I{} cp -L {} "$packed/lib/"
cat >"$packed/run" <<'RUN'
#!/usr/bin/env bash
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} exec "$here/bench_device" "$@"
RUN
chmod +x "$packed/run"
tar -C build -cJf build/bench_device.tar.xz bench_device
