/* What the plugin asks of Python: turning a program's bytecode into text, which jaxlib does best
   for its own version, and calling back into the user's functions. Plain C, so that ctypes can fill
   it in. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What hooks return where Ctrl-C has ended them. */
enum { kHeddleInterrupted = 2 };

/* Takes text, or the message where something failed. */
typedef void (*HeddleWrite)(void* sink, const char* text, size_t size);

struct HeddleArray {
  const char* dtype; /* as MLIR spells it; "token" for what only keeps an order */
  const int64_t* dims;
  size_t rank;
  void* data;
  size_t bytes;
};

struct HeddlePjrtHooks {
  /* 0 where `write` got the text; otherwise it got the reason. */
  int (*decode)(const char* bytes, size_t size, void* sink, HeddleWrite write);
  /* A program's text as bytecode in ops of which each is one of HLO's; as decode. */
  int (*only_hlo)(const char* text, size_t size, void* sink, HeddleWrite write);
  /* What is wrong with JAX's compile options; `write` gets nothing where all is well. */
  int (*check_options)(const char* bytes, size_t size, void* sink, HeddleWrite write);
  /* Calls a function of the user's; it fills the results' memory. 0, or a reason in `write`. */
  int (*call)(void* callable, const struct HeddleArray* arguments, size_t argument_count,
              const struct HeddleArray* results, size_t result_count, void* sink,
              HeddleWrite write);
};

/* Once, before JAX asks for devices. */
__attribute__((visibility("default"))) void heddle_pjrt_set_hooks(
    const struct HeddlePjrtHooks* hooks);

/* Has Ctrl-C seen by what is compiled and run from now on; with the GIL. */
__attribute__((visibility("default"))) void heddle_pjrt_watch(void);

/* Python ends: so does all compiling, and, after Ctrl-C, all runs. Without the GIL. */
__attribute__((visibility("default"))) void heddle_pjrt_end(int by_ctrl_c);

#ifdef __cplusplus
}
#endif
