#!/usr/bin/env bash
# Puts bench_device or the tool, with LLVM inside, into build/NAME with the libraries that another machine
# may lack, and packs it as build/NAME.tar.xz. There it needs neither LLVM nor a compiler:
#   bench_device/run --benchmark_filter=function/
#   heddle/run run FILE.mlir --input random:1
# The tool takes oneDNN and OpenBLAS along.
#   scripts/pack_bench.sh [build/static [bench_device|heddle]]
set -euo pipefail
cd "$(dirname "$0")/.."

build=${1:-build/static}
name=${2:-bench_device}
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHEDDLE_LLVM=ON -DHEDDLE_LLVM_STATIC=ON \
  -DHEDDLE_TESTS=OFF >/dev/null
ninja -C "$build" "$name"
packed=build/$name
rm -rf "$packed"
mkdir -p "$packed/lib"
program=$build/$name
[ -x "$program" ] || program=$build/bench/$name
strip -o "$packed/$name" "$program"

# Those that are loaded at run time, and what they need in turn.
loaded() { ldconfig -p | awk -v name="$1" '$1 == name { print $NF; exit }'; }
{
  ldd "$packed/$name" | awk '/libfmt|libstdc|libgcc|libbenchmark|libz/ { print $3 }'
  loaded libsleef.so.3
  if [ "$name" = heddle ]; then
    for library in $(loaded libopenblas.so.0) $(loaded libdnnl.so.3) $(loaded libdnnl.so.2); do
      echo "$library"
      ldd "$library" | awk '/libgomp|libOpenCL|libgfortran|libquadmath/ { print $3 }'
    done
  fi
} | sort -u | xargs -I{} cp -L {} "$packed/lib/"
cat >"$packed/run" <<RUN
#!/usr/bin/env bash
here=\$(cd "\$(dirname "\$0")" && pwd)
LD_LIBRARY_PATH=\$here/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH} exec "\$here/$name" "\$@"
RUN
chmod +x "$packed/run"
tar -C build -cJf "build/$name.tar.xz" "$name"
