# Compiler settings that every target of the project shares, as the interface target `sunder_options`.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(SUNDER_CCACHE ccache)
if(SUNDER_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Precompiled headers carry time stamps that ccache must be told to look past; paths relative to the project let
  # another clone find the same objects.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${SUNDER_CCACHE})
endif()

add_library(sunder_options INTERFACE)
# Same bits on every machine: the compiler may not fuse a*b+c on its own.
target_compile_options(sunder_options INTERFACE -ffp-contract=off)
# Highway falls back to one lane on GCC before 12.3, for a bug in code that we do not use; we want its 128-bit form.
target_compile_definitions(sunder_options INTERFACE HWY_BROKEN_EMU128=0)
add_library(sunder_warnings INTERFACE)
target_compile_options(sunder_warnings INTERFACE -Wall -Wextra -Wconversion
  $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>
  $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion>)  # no part of GCC's -Wconversion
if(SUNDER_WERROR)
  target_compile_options(sunder_warnings INTERFACE -Werror)
endif()
if(SUNDER_SANITIZE)
  target_compile_options(sunder_options INTERFACE -fsanitize=${SUNDER_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(sunder_options INTERFACE -fsanitize=${SUNDER_SANITIZE})
  # Of the vector targets only AVX2 and the plain one: together they have all vector lengths of the kernels, and what
  # AVX3, SSE4 and SSSE3 (bits 8, 11 and 12) would add is compile time.
  target_compile_definitions(sunder_options INTERFACE HWY_DISABLED_TARGETS=0x1900)
endif()
if(SUNDER_FUZZ)
  # The coverage that guides libFuzzer, for rooms that read files. Elsewhere it would only slow the tests down.
  add_library(sunder_coverage INTERFACE)
  target_compile_options(sunder_coverage INTERFACE
    -fsanitize-coverage=inline-8bit-counters,indirect-calls,trace-cmp,pc-table)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(sunder_options INTERFACE -fpch-preprocess)
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # Its vectoriser of straight-line code takes double(float(x)) for x. tests/base/rounding_test.cpp watches.
    target_compile_options(sunder_options INTERFACE -fno-tree-slp-vectorize)
  endif()
endif()
